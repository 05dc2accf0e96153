-- Each answered append for which its leader named the in-sync replicas right before and right after it,
-- the same and fewer than min.insync.replicas, in one epoch.
WITH marks AS (
  SELECT topic, partition, clock, node, began AS moment, 0 AS turn, op, 'before' AS kind,
    CAST(NULL AS BIGINT) AS look
  FROM responses WHERE f = 'produce' AND node IS NOT NULL AND answered IS NOT NULL
  UNION ALL
  SELECT topic, partition, clock, node, answered, 0, op, 'after', NULL
  FROM responses WHERE f = 'produce' AND node IS NOT NULL AND answered IS NOT NULL
  UNION ALL
  SELECT topic, partition, clock, node, answered, 1, op, 'told', answered FROM leaders_told
  WHERE type = 'ok' AND leader = node AND isr IS NOT NULL
  UNION ALL
  SELECT topic, partition, clock, node, began, -1, op, 'asked', -began FROM leaders_told
  WHERE type = 'ok' AND leader = node AND isr IS NOT NULL
),
known AS (
  SELECT op, kind, topic, partition, clock, node,
    max(CASE WHEN kind = 'told' THEN look END) OVER (PARTITION BY topic, partition, clock, node
      ORDER BY moment, turn, op, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS told_at,
    max(CASE WHEN kind = 'asked' THEN look END) OVER (PARTITION BY topic, partition, clock, node
      ORDER BY moment DESC, turn DESC, op DESC, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      AS asked_at
  FROM marks
)
SELECT r.op, r.topic, r.partition, r.clock, r.node, r.acks, r.type, r.error, x.began, y.answered AS ended,
  x.isr, t.min_insync_replicas, length(x.isr) - length(replace(x.isr, ',', '')) - 1 AS in_sync
FROM responses r
JOIN known b ON r.op = b.op AND b.kind = 'before'
JOIN known a ON r.op = a.op AND a.kind = 'after'
JOIN leaders_told x ON b.topic = x.topic AND b.partition = x.partition AND b.clock = x.clock
  AND b.node = x.node AND b.told_at = x.answered
JOIN leaders_told y ON a.topic = y.topic AND a.partition = y.partition AND a.clock = y.clock
  AND a.node = y.node AND -a.asked_at = y.began
JOIN topic_settings t ON r.topic = t.topic
WHERE r.f = 'produce' AND x.isr = y.isr AND x.leader_epoch = y.leader_epoch
  AND x.leader = r.node AND y.leader = r.node
  AND length(x.isr) - length(replace(x.isr, ',', '')) - 1 < t.min_insync_replicas
