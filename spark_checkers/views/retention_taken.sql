-- Each log start that an answer names and that no DeleteRecords asked for, in a topic whose creation is in
-- the history: the latest timestamp of the records below it, how old that was at most when it was named,
-- and how many bytes at most the records have that stand at or beyond it, or may.
WITH deletions AS (
  SELECT topic, partition, max(CASE WHEN asked_offset < 0 THEN 9223372036854775807 ELSE asked_offset END)
    AS asked
  FROM responses WHERE f = 'delete_records' GROUP BY topic, partition
),
named AS (
  SELECT p.op, p.topic, p.partition, p.clock, p.node, p.began, p.answered, p.start_told,
    t.retention_ms, t.retention_bytes, w.now_ms + CAST(floor((o.completed_ns - w.time) / 1000000) AS BIGINT) AS now_ms,
    row_number() OVER (PARTITION BY p.topic, p.partition, p.clock, p.start_told ORDER BY p.answered, p.op)
      AS nth
  FROM part_answers p
  JOIN topic_configs t ON p.topic = t.topic
  JOIN ops o ON p.op = o.op
  JOIN wall_clocks w ON p.clock = w.clock
  LEFT JOIN deletions d ON p.topic = d.topic AND p.partition = d.partition
  WHERE p.start_told > coalesce(d.asked, 0)
)
SELECT n.op, n.topic, n.partition, n.clock, n.node, min(least(n.began, r.began)) AS began,
  max(n.answered) AS ended, n.start_told, n.retention_ms, n.retention_bytes,
  n.now_ms - max(CASE WHEN r.record_offset < n.start_told THEN r.timestamp END) AS age_ms,
  sum(CASE WHEN r.type <> 'fail' AND r.began < n.answered
      AND coalesce(r.record_offset >= n.start_told, TRUE)
    THEN length(r.value) + coalesce(length(r.record_key), 0) + 120 ELSE 0 END) AS bytes_left
FROM named n
JOIN records_sent r ON n.topic = r.topic AND n.partition = r.partition AND n.clock = r.clock
WHERE n.nth = 1
GROUP BY n.op, n.topic, n.partition, n.clock, n.node, n.start_told, n.retention_ms, n.retention_bytes,
  n.now_ms
