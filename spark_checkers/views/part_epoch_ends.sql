-- Each answer that names the end of a leader epoch, against the epochs of records that were read and
-- that were there all the time (part_starts; the end of an epoch that lies below the log start is the
-- log start). `skipped_epoch` is a later epoch, not beyond the one asked about, that has records;
-- `later_first` the first offset of any later epoch, `last_within` the last offset of the epochs up to
-- the one answered.
SELECT a.op, a.topic, a.partition, a.node, a.asked_epoch, a.leader_epoch, a.current_leader_epoch,
  a.answered_offset, a.clock, least(a.began, min(e.began)) AS began,
  greatest(a.answered, max(e.ended)) AS ended,
  min(CASE WHEN e.epoch > a.leader_epoch AND e.epoch <= a.asked_epoch
    AND e.epoch <= a.current_leader_epoch THEN e.epoch END) AS skipped_epoch,
  min(CASE WHEN e.epoch > a.leader_epoch THEN greatest(e.first_offset, s.log_start) END)
    AS later_first,
  max(CASE WHEN e.epoch <= a.leader_epoch THEN e.last_offset END) AS last_within
FROM responses a
JOIN part_starts s ON a.topic = s.topic AND a.partition = s.partition AND a.clock = s.clock
JOIN part_epochs e ON a.topic = e.topic AND a.partition = e.partition
WHERE a.f = 'offset_for_leader_epoch' AND a.type = 'ok' AND a.answered_offset >= 0
  AND a.current_leader_epoch IS NOT NULL AND e.first_offset IS NOT NULL
  AND e.last_offset >= s.log_start AND s.last_shown > a.answered
GROUP BY a.op, a.topic, a.partition, a.node, a.asked_epoch, a.leader_epoch, a.current_leader_epoch,
  a.answered_offset, a.clock, a.began, a.answered
