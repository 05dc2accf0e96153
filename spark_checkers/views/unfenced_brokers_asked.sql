-- What a broker says of a topic once another broker has told that it was fenced while it was down and is not any more.
-- The topic was created before it was started again.
-- complete within the history
WITH outages AS (SELECT clock, broker, since, until FROM broker_outages),
back AS (
  SELECT o.clock, o.broker, o.until AS started, min(u.answered) AS since
  FROM outages o
  JOIN brokers_told f ON f.clock = o.clock AND f.broker = o.broker AND f.fenced AND f.began >= o.since
    AND f.answered <= o.until
  JOIN brokers_told u ON u.clock = o.clock AND u.broker = o.broker AND NOT u.fenced AND u.began > o.until
    AND u.node = f.node
  WHERE f.node <> o.broker
  GROUP BY o.clock, o.broker, o.until
)
SELECT p.op, p.clock, p.began, p.answered AS ended, p.topic, p.partition, p.node, p.error
FROM back b
JOIN partitions_told p ON p.clock = b.clock AND p.node = b.broker AND p.began >= b.since
JOIN admin_ops c ON c.clock = p.clock AND c.f = 'create_topics' AND c.topic = p.topic AND c.type = 'ok'
  AND c.answered <= b.started AND c.partitions > p.partition
WHERE NOT EXISTS (
  SELECT 1 FROM outages o
  WHERE o.clock = b.clock AND o.broker = b.broker AND o.since > b.started AND o.since <= p.answered)
AND NOT EXISTS (
  SELECT 1 FROM admin_ops d
  WHERE d.clock = p.clock AND d.f = 'delete_topics' AND d.topic = p.topic AND d.began <= p.answered)
