-- Each partition that the controller placed while every broker was up, as it was first told. `racks`: on
-- how many its replicas are; `brokers`, `all_racks`: how many there are; `most_led`, `least_led`: how
-- many partitions of the topic the first replicas of each broker are.
WITH created AS (
  SELECT a.op, a.clock, a.topic, a.replication_factor, a.began, a.ended, a.partitions, min(g.op) AS settled_op
  FROM admin_ops a
  JOIN settled_groups g ON g.clock = a.clock AND g.topic = a.topic AND g.began > a.ended
  WHERE a.f = 'create_topics' AND a.type = 'ok' AND a.placed
    AND NOT EXISTS (SELECT 1 FROM broker_outages o WHERE o.clock = a.clock AND o.since <= a.ended
      AND o.until >= a.began)
    AND NOT EXISTS (SELECT 1 FROM admin_ops o WHERE o.clock = a.clock AND o.topic = a.topic
      AND o.op > a.op AND o.f = 'alter_partition_reassignments' AND o.began <= g.ended)
  GROUP BY a.op, a.clock, a.topic, a.replication_factor, a.began, a.ended, a.partitions
),
racks AS (
  SELECT s.op, b.clock, b.broker, min(b.rack) AS rack
  FROM settle_looks s
  JOIN brokers_told b ON b.clock = s.clock AND b.look = s.look AND b.began >= s.began AND b.began <= s.ended
  GROUP BY s.op, b.clock, b.broker
),
whole_cluster AS (
  SELECT op, clock, count(*) AS brokers, count(DISTINCT rack) AS all_racks FROM racks GROUP BY op, clock
),
placed AS (
  SELECT c.op, c.clock, c.topic, m.partition, c.began, c.ended, c.replication_factor, c.partitions, c.settled_op,
    max(m.replica_count) AS replica_count, count(DISTINCT r.rack) AS racks, max(m.replicas) AS replicas,
    max(CASE WHEN m.place = 0 THEN m.broker END) AS first_replica
  FROM created c
  JOIN settled_members m ON m.op = c.settled_op AND m.topic = c.topic AND m.place IS NOT NULL
  JOIN racks r ON r.op = c.settled_op AND r.broker = m.broker
  GROUP BY c.op, c.clock, c.topic, m.partition, c.began, c.ended, c.replication_factor, c.partitions,
    c.settled_op
),
led AS (
  SELECT op, topic, first_replica, count(*) AS led FROM placed GROUP BY op, topic, first_replica
),
spread AS (
  SELECT op, topic, max(led) AS most_led, min(led) AS least_led, count(*) AS leaders FROM led GROUP BY op, topic
)
SELECT p.op, p.clock, p.topic, p.partition, p.began, p.ended, p.replication_factor, p.replica_count, p.racks,
  p.replicas, w.brokers, w.all_racks, s.most_led, CASE WHEN s.leaders < least(w.brokers, p.partitions) THEN 0
    ELSE s.least_led END AS least_led
FROM placed p
JOIN whole_cluster w ON w.op = p.settled_op
JOIN spread s ON s.op = p.op AND s.topic = p.topic
WHERE p.partition < p.partitions
