-- Each settled look at a partition, with the last reassignment that was asked for before and accepted.
-- `due`: what the replicas have to be, if all that are asked for are up, or if it was called off.
-- `held_by`: one that is added, or that stays where fewer are to be than before, and is down since before
-- it was asked for; `gone`: a replica of before that is none any more.
WITH accepted AS (
  SELECT op, clock, topic, partition, began, ended, asked_replicas,
    coalesce(lead(began) OVER (PARTITION BY clock, topic, partition ORDER BY op), 9223372036854775807)
      AS until
  FROM admin_ops WHERE f = 'alter_partition_reassignments' AND type <> 'fail'
),
known AS (
  SELECT a.op, a.clock, a.topic, a.partition, a.began, a.ended, a.asked_replicas, a.until,
    max(g.op) AS before_op
  FROM accepted a
  LEFT JOIN settled_groups g ON g.clock = a.clock AND g.topic = a.topic AND g.partition = a.partition
    AND g.ended < a.began
  GROUP BY a.op, a.clock, a.topic, a.partition, a.began, a.ended, a.asked_replicas, a.until
),
original AS (
  SELECT k.op, k.clock, k.topic, k.partition, k.began, k.ended, k.asked_replicas, k.until,
    g.replicas AS before_replicas,
    lag(g.replicas) OVER (PARTITION BY k.clock, k.topic, k.partition ORDER BY k.op) AS first_replicas
  FROM known k
  LEFT JOIN settled_groups g ON g.op = k.before_op AND g.topic = k.topic AND g.partition = k.partition
),
brokers AS (SELECT DISTINCT clock, broker FROM brokers_told),
looked AS (
  SELECT s.op, s.clock, s.topic, s.partition, s.began, s.ended, s.replicas, s.whole, s.bound_s,
    o.asked_replicas, o.before_replicas, o.first_replicas, b.broker,
    coalesce(o.asked_replicas LIKE '%,' || CAST(b.broker AS STRING) || ',%', FALSE) AS asked,
    coalesce(o.before_replicas LIKE '%,' || CAST(b.broker AS STRING) || ',%', FALSE) AS before,
    s.replicas LIKE '%,' || CAST(b.broker AS STRING) || ',%' AS now,
    min(d.since) AS down_since, o.began AS asked_at
  FROM settled_groups s
  JOIN original o ON o.clock = s.clock AND o.topic = s.topic AND o.partition = s.partition
    AND o.ended < s.began AND o.until > s.ended
  JOIN brokers b ON b.clock = s.clock
  LEFT JOIN broker_outages d ON d.clock = s.clock AND d.broker = b.broker AND d.since <= s.ended
    AND d.until >= s.ended
  GROUP BY s.op, s.clock, s.topic, s.partition, s.began, s.ended, s.replicas, s.whole, s.bound_s,
    o.asked_replicas, o.before_replicas, o.first_replicas, b.broker, o.began
)
SELECT op, clock, topic, partition, began, ended, replicas, whole, bound_s, asked_replicas,
  before_replicas,
  CASE WHEN sum(CASE WHEN asked THEN 1 ELSE 0 END) < sum(CASE WHEN before THEN 1 ELSE 0 END)
    THEN min(CASE WHEN asked AND down_since < asked_at THEN broker END)
    ELSE min(CASE WHEN asked AND NOT before AND down_since < asked_at THEN broker END) END AS held_by,
  min(CASE WHEN before AND NOT now THEN broker END) AS gone,
  CASE WHEN asked_replicas IS NULL THEN first_replicas
    WHEN max(CASE WHEN asked AND down_since IS NOT NULL THEN 1 ELSE 0 END) = 0 THEN asked_replicas
  END AS due
FROM looked
GROUP BY op, clock, topic, partition, began, ended, replicas, whole, bound_s, asked_replicas,
  before_replicas, first_replicas
