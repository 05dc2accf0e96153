-- Each answer to a request that names a leader epoch as current, or none. `confirmed`: the greatest epoch
-- that the same node had confirmed before it was asked; `told_later`: the least that the same node names
-- in Metadata when it is asked afterwards. A node learns an epoch before it begins to act by it.
-- Both are looked for only where the epochs of the log, at any time, do not allow the answer.
WITH asked AS (
  SELECT op, topic, partition, clock, node, f, began, answered, type, error,
    current_leader_epoch AS named
  FROM responses
  WHERE f IN ('fetch', 'list_offsets', 'offset_for_leader_epoch') AND answered IS NOT NULL
    AND node IS NOT NULL
),
looks AS (
  SELECT topic, partition, clock, node, began, op, leader_epoch
  FROM leaders_told WHERE type = 'ok' AND leader = node AND leader_epoch >= 0
),
ever AS (
  SELECT topic, partition, max(confirmed) AS confirmed, min(told) AS told
  FROM (
    SELECT topic, partition, max(named) AS confirmed, CAST(NULL AS BIGINT) AS told
    FROM asked WHERE type = 'ok' GROUP BY topic, partition
    UNION ALL
    SELECT topic, partition, NULL, min(leader_epoch) FROM looks GROUP BY topic, partition
  ) epochs
  GROUP BY topic, partition
),
doubtful AS (
  SELECT a.op, a.topic, a.partition, a.clock, a.node, a.began, a.answered
  FROM asked a
  JOIN ever e ON a.topic = e.topic AND a.partition = e.partition
  WHERE a.type <> 'ok' OR a.named < e.confirmed OR a.named > e.told
),
moments AS (
  SELECT topic, partition, clock, node, began AS moment, 0 AS turn, op, 'asked' AS kind,
    CAST(NULL AS BIGINT) AS confirmed, CAST(NULL AS BIGINT) AS told
  FROM doubtful
  UNION ALL
  SELECT topic, partition, clock, node, answered, 1, op, 'over', NULL, NULL FROM doubtful
  UNION ALL
  SELECT topic, partition, clock, node, answered, 2, op, 'fact', named, NULL
  FROM asked a WHERE type = 'ok' AND named IS NOT NULL AND EXISTS (
    SELECT 1 FROM doubtful d WHERE d.topic = a.topic AND d.partition = a.partition)
  UNION ALL
  SELECT topic, partition, clock, node, began, 3, op, 'look', NULL, leader_epoch FROM looks
),
known AS (
  SELECT op, kind, max(confirmed) OVER (PARTITION BY topic, partition, clock, node
      ORDER BY moment, turn, op, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS confirmed,
    min(told) OVER (PARTITION BY topic, partition, clock, node
      ORDER BY moment DESC, turn DESC, op DESC, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      AS told_later
  FROM moments
),
bounds AS (
  SELECT op, max(CASE WHEN kind = 'asked' THEN confirmed END) AS confirmed,
    max(CASE WHEN kind = 'over' THEN told_later END) AS told_later
  FROM known WHERE kind IN ('asked', 'over') GROUP BY op
)
SELECT a.op, a.topic, a.partition, a.clock, a.node, a.f, a.began, a.answered AS ended, a.type, a.error,
  a.named, b.confirmed, b.told_later
FROM asked a
LEFT JOIN bounds b ON a.op = b.op
