-- Each append to a partition that had settled: nothing was done to it or to a broker since. `enough`:
-- the ISR has as many members as min.insync.replicas asks for.
WITH asked AS (
  SELECT r.op, r.clock, r.topic, r.partition, r.began, r.answered, r.acks, r.error, r.type, r.node,
    max(g.op) AS settled_op
  FROM responses r
  JOIN settled_groups g ON g.clock = r.clock AND g.topic = r.topic AND g.partition = r.partition
    AND g.ended < r.began
  WHERE r.f = 'produce' AND r.error IS NOT NULL
  GROUP BY r.op, r.clock, r.topic, r.partition, r.began, r.answered, r.acks, r.error, r.type, r.node
)
SELECT a.op, a.clock, a.topic, a.partition, a.began, a.answered AS ended, a.acks, a.error, a.type, a.node,
  g.leader, g.isr, g.isr_count, g.least_min, g.isr_count >= g.least_min AS enough
FROM asked a
JOIN settled_groups g ON g.op = a.settled_op AND g.topic = a.topic AND g.partition = a.partition
WHERE g.least_min IS NOT NULL AND g.unclear = 0 AND g.leader >= 0 AND g.lacks IS NULL
  AND NOT EXISTS (SELECT 1 FROM fault_windows w WHERE w.clock = a.clock
    AND w.fault <> 'assumption-suspended' AND ((w.since >= g.ended AND w.since <= a.answered)
      OR (w.until >= g.ended AND w.until <= a.answered)))
  AND NOT EXISTS (SELECT 1 FROM admin_ops o WHERE o.clock = a.clock AND o.topic = a.topic
    AND o.began >= g.ended AND o.began <= a.answered)
