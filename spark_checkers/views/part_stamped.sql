-- Each record that a search by timestamp was to see, by log (part_stamp_logs): outside of transactions or
-- read by read_committed readers, unless the search reads uncommitted; an open transaction hides what is
-- behind it from the others. `since`: when it was acknowledged by all in sync, or read.
SELECT l.log, l.log_start, r.record_offset, r.timestamp AS stamp,
  CASE WHEN NOT (l.committed AND l.transacts) THEN r.ended END AS since
FROM records_sent r
JOIN part_stamp_logs l ON r.topic = l.topic AND r.partition = l.partition AND r.clock = l.clock
  AND r.began > l.after AND r.ended < l.before
WHERE r.type = 'ok' AND r.acks = -1 AND r.record_offset >= 0
  AND r.timestamp IS NOT NULL AND (NOT l.committed OR r.transaction IS NULL)
UNION ALL
SELECT l.log, l.log_start, s.record_offset, s.timestamp, s.answered
FROM records_seen s
JOIN part_stamp_logs l ON s.topic = l.topic AND s.partition = l.partition AND s.clock = l.clock
  AND s.began > l.after AND s.answered < l.before
WHERE s.timestamp IS NOT NULL AND (NOT l.committed OR s.isolation = 'read_committed')
