-- Each partition in two settled looks that follow each other, where all brokers agree in both.
-- `moves`: how often replicas or leaders were asked for in between; `settings`: how often the topic was
-- configured.
-- computed once
WITH pairs AS (
  SELECT settled_groups.*, lag(op) OVER one AS before_op, lag(ended) OVER one AS before_ended,
    lag(leader) OVER one AS before_leader, lag(leader_epoch) OVER one AS before_epoch,
    lag(replicas) OVER one AS before_replicas, lag(isr) OVER one AS before_isr,
    lag(elr) OVER one AS before_elr, lag(isr_count) OVER one AS before_isr_count,
    lag(topic_id) OVER one AS before_id
  FROM settled_groups
  WINDOW one AS (PARTITION BY clock, topic, partition ORDER BY op)
)
SELECT p.op, p.clock, p.whole, p.bound_s, p.before_ended AS began, p.ended, p.began AS since, p.topic, p.partition,
  p.leader, p.leader_epoch, p.replicas, p.isr, p.elr, p.isr_count, p.least_min, p.unclean, p.unclear,
  p.replica_count, p.topic_id, p.before_op, p.before_leader, p.before_epoch, p.before_replicas,
  p.before_isr, p.before_elr, p.before_isr_count, p.before_id,
  coalesce(sum(CASE WHEN a.partition = p.partition THEN 1 ELSE 0 END), 0) AS moves,
  coalesce(sum(CASE WHEN a.op IS NOT NULL AND a.partition IS NULL THEN 1 ELSE 0 END), 0) AS settings
FROM pairs p
LEFT JOIN admin_ops a ON a.clock = p.clock AND a.topic = p.topic AND a.began >= p.before_ended
  AND a.began <= p.ended AND (a.partition IS NULL OR a.partition = p.partition)
  AND a.f <> 'list_partition_reassignments'
WHERE p.before_op IS NOT NULL
GROUP BY p.op, p.clock, p.whole, p.bound_s, p.before_ended, p.ended, p.began, p.topic, p.partition, p.leader,
  p.leader_epoch, p.replicas, p.isr, p.elr, p.isr_count, p.least_min, p.unclean, p.unclear,
  p.replica_count, p.topic_id, p.before_op, p.before_leader, p.before_epoch, p.before_replicas,
  p.before_isr, p.before_elr, p.before_isr_count, p.before_id
