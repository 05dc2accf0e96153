-- Each list of the reassignments of a partition after one was asked for that adds a broker which is down
-- since before: `held_by`.
WITH listed AS (
  SELECT l.op, l.clock, l.topic, l.partition, l.began, l.ended, l.adding, l.removing, max(a.op) AS asked_op
  FROM admin_ops l
  JOIN admin_ops a ON a.clock = l.clock AND a.topic = l.topic AND a.partition = l.partition
    AND a.f = 'alter_partition_reassignments' AND a.type = 'ok' AND a.ended < l.began
  WHERE l.f = 'list_partition_reassignments' AND l.type = 'ok'
  GROUP BY l.op, l.clock, l.topic, l.partition, l.began, l.ended, l.adding, l.removing
),
asked AS (
  SELECT l.op, l.clock, l.topic, l.partition, l.began, l.ended, l.adding, l.removing, a.asked_replicas,
    a.began AS asked_at, max(g.op) AS before_op
  FROM listed l
  JOIN admin_ops a ON a.op = l.asked_op
  JOIN settled_groups g ON g.clock = l.clock AND g.topic = l.topic AND g.partition = l.partition
    AND g.ended < a.began
  GROUP BY l.op, l.clock, l.topic, l.partition, l.began, l.ended, l.adding, l.removing, a.asked_replicas,
    a.began
)
SELECT a.op, a.clock, a.topic, a.partition, a.began, a.ended, a.adding, a.removing, a.asked_replicas,
  g.replicas AS before_replicas, min(o.broker) AS held_by
FROM asked a
JOIN settled_groups g ON g.op = a.before_op AND g.topic = a.topic AND g.partition = a.partition
JOIN broker_outages o ON o.clock = a.clock AND o.since < a.asked_at AND o.until > a.ended
  AND a.asked_replicas LIKE '%,' || CAST(o.broker AS STRING) || ',%'
  AND NOT g.replicas LIKE '%,' || CAST(o.broker AS STRING) || ',%'
GROUP BY a.op, a.clock, a.topic, a.partition, a.began, a.ended, a.adding, a.removing, a.asked_replicas,
  g.replicas
