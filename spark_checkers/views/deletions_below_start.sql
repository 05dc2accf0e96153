-- Each remote segment that was finished and whose deletion began while its topic was there, with the log
-- start that the leader of its log named at the first look at rest that found it so.
-- complete within the history
SELECT op, topic, partition, clock, began, ended, segment_id, start_offset, end_offset, log_start
FROM (
  SELECT op, topic, partition, clock, began, ended, segment_id, start_offset, end_offset, log_start,
    row_number() OVER (PARTITION BY clock, segment_id ORDER BY look) AS nth
  FROM remote_segments
  WHERE finished AND going AND NOT deleted AND log_start IS NOT NULL
) found
WHERE nth = 1
