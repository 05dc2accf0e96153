-- Acknowledged commits of a log in offset order. What lies between two of them can only have been
-- written by commits whose outcome is unknown.
WITH unknown AS (
  SELECT topic, partition, sum(record_count) AS records FROM boundary_ops
  WHERE f = 'commit_batch' AND type = 'info' GROUP BY topic, partition
)
SELECT o.op, o.topic, o.partition, o.f, o.process, o.began, o.ended, o.base_offset, o.record_count,
  o.stored_boundary, coalesce(u.records, 0) AS unknown_records,
  coalesce(lag(o.base_offset + o.record_count) OVER (
    PARTITION BY o.topic, o.partition ORDER BY o.base_offset NULLS LAST, o.op), o.stored_boundary)
    AS expected_offset
FROM boundary_ops o
LEFT JOIN unknown u ON o.topic = u.topic AND o.partition = u.partition
WHERE o.f = 'commit_batch' AND o.type = 'ok'
