-- Each answer that names the end of a leader epoch, against the epochs of records that were read.
-- `last_within` is the last offset of the epochs up to the one answered. Of later epochs only those count
-- that were in the log all the time (part_starts; the end of an epoch that lies below the log start is
-- the log start): `skipped_epoch` is one, not beyond the one asked about, that has records, and
-- `later_first` their first offset.
WITH epochs AS (
  SELECT a.op, a.topic, a.partition, a.node, a.asked_epoch, a.leader_epoch, a.current_leader_epoch,
    a.answered_offset, a.clock, a.began AS asked_at, a.answered, e.epoch, e.first_offset, e.last_offset,
    e.began, e.ended, s.log_start,
    coalesce(e.last_offset >= s.log_start AND s.last_shown > a.answered, FALSE) AS stayed
  FROM responses a
  JOIN part_epochs e ON a.topic = e.topic AND a.partition = e.partition
  LEFT JOIN part_starts s ON a.topic = s.topic AND a.partition = s.partition AND a.clock = s.clock
  WHERE a.f = 'offset_for_leader_epoch' AND a.type = 'ok' AND a.answered_offset >= 0
    AND a.current_leader_epoch IS NOT NULL AND e.first_offset IS NOT NULL
)
SELECT op, topic, partition, node, asked_epoch, leader_epoch, current_leader_epoch, answered_offset,
  clock, least(asked_at, min(began)) AS began, greatest(answered, max(ended)) AS ended,
  min(CASE WHEN epoch > leader_epoch AND epoch <= asked_epoch AND epoch <= current_leader_epoch
    THEN epoch END) AS skipped_epoch,
  min(CASE WHEN epoch > leader_epoch THEN greatest(first_offset, log_start) END) AS later_first,
  max(CASE WHEN epoch <= leader_epoch THEN last_offset END) AS last_within
FROM epochs
WHERE stayed OR epoch <= leader_epoch
GROUP BY op, topic, partition, node, asked_epoch, leader_epoch, current_leader_epoch, answered_offset,
  clock, asked_at, answered
