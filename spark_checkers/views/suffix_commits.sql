-- Acknowledged commits of a log in offset order: where each had to follow, and how many offsets
-- have been passed over so far. Only commits whose outcome is unknown can have taken those. Of a
-- log that is older than the history the first commit may stand anywhere.
WITH unknown AS (
  SELECT topic, partition, sum(record_count) AS records FROM boundary_ops
  WHERE f = 'commit_batch' AND type = 'info' GROUP BY topic, partition
),
followed AS (
  SELECT o.op, o.topic, o.partition, o.f, o.process, o.began, o.ended, o.base_offset,
    o.record_count, o.stored_boundary, coalesce(u.records, 0) AS unknown_records,
    coalesce(lag(o.base_offset + o.record_count) OVER (
      PARTITION BY o.topic, o.partition ORDER BY o.base_offset NULLS LAST, o.op),
      CASE WHEN l.born THEN o.stored_boundary ELSE o.base_offset END) AS expected_offset
  FROM boundary_ops o
  JOIN boundary_logs l ON o.topic = l.topic AND o.partition = l.partition
  LEFT JOIN unknown u ON o.topic = u.topic AND o.partition = u.partition
  WHERE o.f = 'commit_batch' AND o.type = 'ok'
)
SELECT *, sum(base_offset - expected_offset) OVER (
    PARTITION BY topic, partition ORDER BY base_offset NULLS LAST, op
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS passed_over
FROM followed
