-- The last answer of each broker that shows a log with all kinds of records from its start on.
-- computed once
WITH reads AS (
  SELECT op, topic, partition, node, clock, began, answered, high_watermark,
    row_number() OVER (PARTITION BY topic, partition, node, clock ORDER BY answered DESC, op DESC)
      AS back
  FROM responses
  WHERE f = 'fetch' AND type = 'ok' AND isolation = 'read_uncommitted'
    AND asked_offset <= log_start_offset
)
SELECT r.op, r.topic, r.partition, r.node, r.clock, r.began, r.answered, max(b.last_offset) + 1 AS reach
FROM reads r
JOIN log_batches b ON r.op = b.op AND r.topic = b.topic AND r.partition = b.partition
WHERE r.back = 1
GROUP BY r.op, r.topic, r.partition, r.node, r.clock, r.began, r.answered
