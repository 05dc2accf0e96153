-- Each broker in two looks at metrics that follow each other, with how many ISRs of partitions that it led in one epoch
-- were told to be smaller in between. Nothing happened all the while but links between brokers that were cut, and no
-- broker was told to be fenced: so nobody but the leader took a replica out.
WITH looks AS (
  SELECT op, clock, began, ended, node_name, broker, shrinks,
    lag(op) OVER (PARTITION BY clock, broker ORDER BY began) AS before_op,
    lag(began) OVER (PARTITION BY clock, broker ORDER BY began) AS before_began,
    lag(shrinks) OVER (PARTITION BY clock, broker ORDER BY began) AS before_shrinks
  FROM metrics_settled WHERE shrinks IS NOT NULL AND broker IS NOT NULL
),
troubled AS (
  SELECT l.op, l.broker
  FROM looks l
  JOIN fault_windows w ON w.clock = l.clock AND w.since <= l.ended
    AND coalesce(w.until, 9223372036854775807) >= l.before_began
    AND w.fault <> 'assumption-suspended'
    AND NOT (w.fault = 'cut' AND w.target LIKE 'broker-% ↔ broker-%')
  UNION
  SELECT l.op, l.broker
  FROM looks l
  JOIN brokers_told b ON b.clock = l.clock AND b.answered >= l.before_began AND b.began <= l.ended
    AND b.fenced
),
smaller AS (
  SELECT DISTINCT l.op, l.broker, b.topic, b.partition
  FROM looks l
  JOIN settled_partitions b ON b.op = l.before_op AND b.agreed AND b.leader = l.broker
  JOIN partitions_told t ON t.clock = l.clock AND t.topic = b.topic AND t.partition = b.partition
    AND t.type = 'ok' AND t.began >= b.ended AND t.began <= l.began AND t.leader = b.leader
    AND t.leader_epoch = b.leader_epoch AND t.replicas = b.replicas AND t.isr_count < b.isr_count
)
SELECT l.op, l.clock, l.began, l.ended, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  l.node_name, l.before_shrinks, l.shrinks, count(*) AS shrunk
FROM looks l
JOIN smaller s ON s.op = l.op AND s.broker = l.broker
LEFT JOIN troubled t ON t.op = l.op AND t.broker = l.broker
WHERE t.op IS NULL
GROUP BY l.op, l.clock, l.began, l.ended, l.node_name, l.before_shrinks, l.shrinks
