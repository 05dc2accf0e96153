-- What the controller counts at rest, beside what the brokers say of brokers and partitions.
WITH told AS (
  SELECT op, count(DISTINCT broker) AS brokers, count(DISTINCT CASE WHEN fenced THEN broker END) AS fenced
  FROM brokers_settled GROUP BY op
)
SELECT s.op, s.clock, s.began, s.ended, s.whole, s.bound_s, s.topic, s.partition, s.node_name, s.active,
  s.fenced, s.offline, s.all_partitions, t.brokers - t.fenced AS told_active, t.fenced AS told_fenced,
  s.told_leaderless, s.told_partitions
FROM metrics_settled s
JOIN told t ON t.op = s.op
WHERE s.active IS NOT NULL
