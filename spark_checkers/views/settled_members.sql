-- Each broker named for a partition on which all brokers agree in the last look of a phase. `down`: a
-- fault kept it from answering during the whole phase; `up`: none touched it.
-- computed once
SELECT p.op, p.clock, p.began, p.ended, p.whole, p.bound_s, p.topic, p.partition, p.leader,
  p.leader_epoch, p.replicas, p.isr, p.elr, p.replica_count, p.isr_count, m.broker, m.place, m.in_isr,
  m.in_elr, m.last_known, m.leads, m.offline,
  coalesce(max(CASE WHEN o.since <= p.began AND o.until >= p.ended THEN 1 ELSE 0 END), 0) = 1 AS down,
  max(o.op) IS NULL AS up
FROM settled_partitions p
JOIN members_told m ON m.op = p.told_op
LEFT JOIN broker_outages o ON o.clock = p.clock AND o.broker = m.broker AND o.since <= p.ended
  AND o.until >= p.began
WHERE p.agreed AND p.type = 'ok'
GROUP BY p.op, p.clock, p.began, p.ended, p.whole, p.bound_s, p.topic, p.partition, p.leader,
  p.leader_epoch, p.replicas, p.isr, p.elr, p.replica_count, p.isr_count, m.broker, m.place, m.in_isr,
  m.in_elr, m.last_known, m.leads, m.offline
