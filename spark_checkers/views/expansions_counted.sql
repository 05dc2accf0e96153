-- Each broker in two looks at metrics that follow each other, between which it ran and nothing kept it from its
-- controller, with how many ISRs of partitions that it led in one epoch grew in between. What is over is over: the looks
-- are at rest themselves, so no fault has to be waited for that ended before them.
WITH looks AS (
  SELECT op, clock, began, ended, node_name, broker, expansions,
    lag(op) OVER (PARTITION BY clock, broker ORDER BY began) AS before_op,
    lag(began) OVER (PARTITION BY clock, broker ORDER BY began) AS before_began,
    lag(expansions) OVER (PARTITION BY clock, broker ORDER BY began) AS before_expansions
  FROM metrics_settled WHERE expansions IS NOT NULL AND broker IS NOT NULL
),
troubled AS (
  SELECT l.op, l.broker
  FROM looks l
  JOIN fault_windows w ON w.clock = l.clock AND w.since <= l.ended
    AND coalesce(w.until, 9223372036854775807) >= l.before_began
    AND w.fault <> 'assumption-suspended'
    AND (w.fault NOT IN ('kill', 'restart', 'reimage')
      OR w.target LIKE '%controller%'
      OR ',' || w.target || ',' LIKE '%,' || l.node_name || ',%')
  GROUP BY l.op, l.broker
)
SELECT l.op, l.clock, l.began, l.ended, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition,
  l.node_name, l.before_expansions, l.expansions, count(*) AS grown
FROM looks l
JOIN settled_partitions n ON n.op = l.op AND n.agreed AND n.leader = l.broker
JOIN settled_partitions b ON b.op = l.before_op AND b.agreed AND b.topic = n.topic
  AND b.partition = n.partition AND b.leader = n.leader AND b.leader_epoch = n.leader_epoch
  AND b.isr_count < n.isr_count
LEFT JOIN troubled t ON t.op = l.op AND t.broker = l.broker
WHERE t.op IS NULL
GROUP BY l.op, l.clock, l.began, l.ended, l.node_name, l.before_expansions, l.expansions
