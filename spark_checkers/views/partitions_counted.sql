-- What each broker counts of its partitions at rest, beside what all brokers say of them. `told_lacking`: led
-- by it with fewer in sync than replicas; `sure_lacking`: those of them that were never reassigned, whose
-- replicas are surely all meant to be in sync. `sure_short`: led by it with fewer in sync than
-- min.insync.replicas; `told_short`: and those whose minimum is not known.
WITH moved AS (
  SELECT DISTINCT clock, topic, partition, min(began) OVER (PARTITION BY clock, topic, partition) AS since
  FROM admin_ops WHERE f = 'alter_partition_reassignments'
),
told AS (
  SELECT m.op, m.broker, count(*) AS has, sum(CASE WHEN m.leads THEN 1 ELSE 0 END) AS leads,
    sum(CASE WHEN m.leads AND m.isr_count < m.replica_count THEN 1 ELSE 0 END) AS lacking,
    sum(CASE WHEN m.leads AND m.isr_count < m.replica_count AND v.since IS NULL THEN 1 ELSE 0 END) AS sure
  FROM settled_members m
  LEFT JOIN moved v ON v.clock = m.clock AND v.topic = m.topic AND v.partition = m.partition
    AND v.since <= m.ended
  WHERE m.place IS NOT NULL
  GROUP BY m.op, m.broker
),
short AS (
  SELECT op, leader AS broker, sum(CASE WHEN isr_count < least_min THEN 1 ELSE 0 END) AS sure,
    sum(CASE WHEN least_min IS NULL OR isr_count < least_min THEN 1 ELSE 0 END) AS told
  FROM settled_groups GROUP BY op, leader
)
SELECT s.op, s.clock, s.began, s.ended, s.whole, s.bound_s, s.topic, s.partition, s.node_name, s.broker,
  s.has, s.leads, s.under_replicated, coalesce(t.has, 0) AS told_has, coalesce(t.leads, 0) AS told_leads,
  coalesce(t.lacking, 0) AS told_lacking, coalesce(t.sure, 0) AS sure_lacking,
  s.under_min, coalesce(h.told, 0) AS told_short, coalesce(h.sure, 0) AS sure_short
FROM metrics_settled s
LEFT JOIN told t ON t.op = s.op AND t.broker = s.broker
LEFT JOIN short h ON h.op = s.op AND h.broker = s.broker
WHERE s.broker IS NOT NULL
