-- What each broker said about each partition in the last look of a phase. `state`: all of it as text.
SELECT s.op, s.clock, s.phase, s.began, s.ended, s.whole, s.bound_s, t.op AS told_op, t.node, t.topic,
  t.partition, t.type, t.error, t.topic_id, t.leader, t.leader_epoch, t.replicas, t.isr, t.elr,
  t.last_known_elr, t.replica_count, t.isr_count,
  CASE WHEN t.type = 'ok' THEN CAST(t.leader AS STRING) || ' /' || CAST(t.leader_epoch AS STRING) || ' '
    || t.replicas || ' isr ' || t.isr || ' elr ' || coalesce(t.elr, '-') || ' last '
    || coalesce(t.last_known_elr, '-') || ' ' || coalesce(t.topic_id, '-')
  ELSE coalesce(t.error, 'no answer') END AS state
FROM settle_looks s
JOIN partitions_told t ON t.clock = s.clock AND t.look = s.look
  AND t.began >= s.began AND t.began <= s.ended
