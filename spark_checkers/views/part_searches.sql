-- Each search by timestamp (-3 asks for the greatest) with its log, as part_stamp_logs has them, and the
-- timestamp that it is about.
-- computed once
SELECT a.op, a.topic, a.partition, a.node, a.asked_timestamp, a.answered_offset, a.found_timestamp,
  a.clock, a.began, a.answered, l.log, l.last_shown,
  CASE WHEN a.asked_timestamp = -3 THEN a.found_timestamp ELSE a.asked_timestamp END AS stamp
FROM offsets_listed a
JOIN part_stamp_logs l ON a.topic = l.topic AND a.partition = l.partition AND a.clock = l.clock
  AND (coalesce(a.isolation, 'unknown') <> 'read_uncommitted') = l.committed
  AND a.began > l.after AND a.answered < l.before
WHERE a.type = 'ok' AND (a.asked_timestamp >= 0 OR a.asked_timestamp = -3)
