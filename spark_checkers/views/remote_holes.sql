-- Each finished remote segment that reaches into the remote part of its log at a look at rest, and for each
-- such log its earliest local offset: `covered` is the offset up to which the segments before it reach,
-- counted from the log start, `from_offset` where it begins itself.
WITH pieces AS (
  SELECT s.op, s.topic, s.partition, s.clock, s.began, s.ended, s.look, s.log_start, s.local_start,
    s.start_offset AS from_offset, s.end_offset + 1 AS to_offset
  FROM remote_segments s
  WHERE s.finished AND NOT s.going AND NOT s.deleted AND s.end_offset >= s.log_start
    AND s.start_offset < s.local_start
  UNION ALL
  SELECT op, topic, partition, clock, began, ended, look, log_start, local_start, local_start, local_start
  FROM remote_bounds
  WHERE resting AND tiered AND local_start > log_start
)
SELECT op, topic, partition, clock, began, ended, log_start, local_start, from_offset,
  greatest(log_start, coalesce(max(to_offset) OVER (PARTITION BY clock, look, topic, partition
    ORDER BY from_offset, to_offset ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), log_start)) AS covered
FROM pieces
