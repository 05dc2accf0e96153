-- Each answer to a request that names a leader epoch as current, or none. `confirmed`: the greatest epoch
-- that the same node had confirmed before it was asked; `told_later`: the least that the same node names
-- in Metadata when it is asked afterwards. A node learns an epoch before it begins to act by it.
WITH moments AS (
  SELECT topic, partition, clock, node, began AS moment, 0 AS turn, op, 'asked' AS kind,
    CAST(NULL AS BIGINT) AS confirmed, CAST(NULL AS BIGINT) AS told
  FROM responses
  WHERE f IN ('fetch', 'list_offsets', 'offset_for_leader_epoch') AND node IS NOT NULL
  UNION ALL
  SELECT topic, partition, clock, node, answered, 1, op, 'over', NULL, NULL
  FROM responses
  WHERE f IN ('fetch', 'list_offsets', 'offset_for_leader_epoch') AND node IS NOT NULL
  UNION ALL
  SELECT topic, partition, clock, node, answered, 2, op, 'fact', current_leader_epoch, NULL
  FROM responses
  WHERE f IN ('fetch', 'list_offsets', 'offset_for_leader_epoch') AND node IS NOT NULL AND type = 'ok'
    AND current_leader_epoch IS NOT NULL
  UNION ALL
  SELECT topic, partition, clock, node, began, 3, op, 'look', NULL, leader_epoch
  FROM leaders_told WHERE type = 'ok' AND leader = node AND leader_epoch >= 0
),
known AS (
  SELECT op, kind, max(confirmed) OVER (PARTITION BY topic, partition, clock, node
      ORDER BY moment, turn, op, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS confirmed,
    min(told) OVER (PARTITION BY topic, partition, clock, node
      ORDER BY moment DESC, turn DESC, op DESC, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      AS told_later
  FROM moments
)
SELECT r.op, r.topic, r.partition, r.clock, r.node, r.f, r.began, r.answered AS ended, r.type, r.error,
  r.current_leader_epoch AS named, b.confirmed, a.told_later
FROM responses r
JOIN known b ON r.op = b.op AND b.kind = 'asked'
JOIN known a ON r.op = a.op AND a.kind = 'over'
WHERE r.f IN ('fetch', 'list_offsets', 'offset_for_leader_epoch') AND r.answered IS NOT NULL
