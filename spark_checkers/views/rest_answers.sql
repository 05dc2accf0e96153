-- Each broker that was asked who leads while its cluster was to come to rest. `answered`: it said so;
-- `lacks`: the least broker that answered the same look, is a replica and not in sync as this one says.
WITH asked AS (
  SELECT p.index AS op, p.clock, p.since AS began, p.until AS ended, p.bound_ns, p.lasted_ns,
    l.topic, l.partition, l.look, l.node, l.leader, l.leader_epoch, l.isr, l.replicas,
    l.isr IS NOT NULL AS answered
  FROM phases_in_peace p
  JOIN leaders_told l ON l.clock = p.clock AND l.began >= p.since AND l.began <= p.until
  WHERE p.phase = 'converge'
)
SELECT a.op, a.clock, a.began, a.ended, a.bound_ns, a.lasted_ns, a.topic, a.partition, a.look, a.node,
  a.leader, a.leader_epoch, a.answered, min(b.node) AS lacks
FROM asked a
LEFT JOIN asked b ON a.op = b.op AND a.topic = b.topic AND a.partition = b.partition
  AND a.look = b.look AND a.answered AND b.answered
  AND coalesce(a.replicas, b.replicas, ',' || CAST(b.node AS STRING) || ',')
    LIKE '%,' || CAST(b.node AS STRING) || ',%'
  AND NOT a.isr LIKE '%,' || CAST(b.node AS STRING) || ',%'
GROUP BY a.op, a.clock, a.began, a.ended, a.bound_ns, a.lasted_ns, a.topic, a.partition, a.look, a.node,
  a.leader, a.leader_epoch, a.answered
