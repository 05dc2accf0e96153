-- For each remote segment of which a look found objects: how many bytes its log object has, and how many
-- objects it has of each part.
-- complete within the history
SELECT clock, look, segment_id, sum(CASE WHEN part = 'log' THEN size END) AS log_bytes,
  count(CASE WHEN part = 'log' THEN 1 END) AS logs,
  count(CASE WHEN part = 'offset' THEN 1 END) AS offset_indexes,
  count(CASE WHEN part = 'time' THEN 1 END) AS time_indexes,
  count(CASE WHEN part = 'producers' THEN 1 END) AS snapshots,
  count(CASE WHEN part = 'epochs' THEN 1 END) AS epoch_files, count(*) AS objects
FROM remote_objects
WHERE segment_id IS NOT NULL
GROUP BY clock, look, segment_id
