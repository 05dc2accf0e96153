-- Each broker named for a partition by a broker that had told before that it is fenced, where a fault kept it
-- from telling the controller anything from before that answer until after this one.
WITH kept_away AS (
  SELECT clock, broker, since, until FROM broker_outages
  UNION ALL
  SELECT w.clock, k.broker, w.since, coalesce(w.until, 9223372036854775807)
  FROM fault_windows w
  JOIN (SELECT DISTINCT clock, broker FROM brokers_told) k ON k.clock = w.clock
    AND w.target LIKE 'broker-' || CAST(k.broker AS STRING) || ' _ controller'
  WHERE w.fault = 'cut'
),
fenced AS (
  SELECT b.clock, b.node, b.broker, min(b.answered) AS since, w.until
  FROM brokers_told b
  JOIN kept_away w ON w.clock = b.clock AND w.broker = b.broker AND w.since <= b.began
    AND w.until >= b.answered
  WHERE b.fenced
  GROUP BY b.clock, b.node, b.broker, w.since, w.until
)
SELECT m.op, m.clock, m.began, m.answered AS ended, m.topic, m.partition, m.node, m.broker, m.in_isr,
  p.leader, p.isr, p.isr_count
FROM members_told m
JOIN partitions_told p ON p.op = m.op
JOIN fenced f ON f.clock = m.clock AND f.node = m.node AND f.broker = m.broker AND f.since <= m.began
  AND f.until >= m.answered
WHERE m.type = 'ok'
