-- Each partition on which all brokers agree in the last look of a phase, with what its members are:
-- `up_isr` and so on count those that no fault touched, `down_isr` those that could not answer.
-- `lacks`: the least that is up and not in the ISR; `stale`: the least that is down and in it;
-- `least_min`: the effective min.insync.replicas, null if it is not known.
-- computed once
WITH counted AS (
  SELECT op, topic, partition, sum(CASE WHEN up AND place IS NOT NULL THEN 1 ELSE 0 END) AS up_replicas,
    sum(CASE WHEN up AND in_isr THEN 1 ELSE 0 END) AS up_isr,
    sum(CASE WHEN up AND in_elr THEN 1 ELSE 0 END) AS up_elr,
    sum(CASE WHEN last_known THEN 1 ELSE 0 END) AS last_known,
    sum(CASE WHEN last_known AND up THEN 1 ELSE 0 END) AS up_last_known,
    min(CASE WHEN up AND place IS NOT NULL AND NOT in_isr THEN broker END) AS lacks,
    min(CASE WHEN down AND in_isr THEN broker END) AS stale,
    min(CASE WHEN down AND leads THEN broker END) AS led_by_down,
    min(CASE WHEN place = 0 THEN broker END) AS preferred,
    max(CASE WHEN place = 0 AND up AND in_isr THEN 1 ELSE 0 END) = 1 AS preferred_able,
    sum(CASE WHEN NOT up AND NOT down THEN 1 ELSE 0 END) AS unclear
  FROM settled_members GROUP BY op, topic, partition
)
SELECT p.op, p.clock, p.began, p.ended, p.whole, p.bound_s, p.topic, p.partition, p.leader,
  p.leader_epoch, p.replicas, p.isr, p.elr, p.replica_count, p.isr_count, p.topic_id, c.up_replicas,
  c.up_isr, c.up_elr, c.last_known, c.up_last_known, c.lacks, c.stale, c.led_by_down, c.preferred,
  c.preferred_able, c.unclear, s.unclean, CASE WHEN s.min_insync_replicas IS NOT NULL THEN least(s.min_insync_replicas, p.replica_count) END AS least_min
FROM settled_partitions p
JOIN counted c ON c.op = p.op AND c.topic = p.topic AND c.partition = p.partition
LEFT JOIN topic_settings s ON s.clock = p.clock AND s.topic = p.topic AND s.type = 'ok'
  AND s.since <= p.began AND s.until > p.ended
WHERE p.agreed AND p.type = 'ok'
