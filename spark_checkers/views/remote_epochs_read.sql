-- Each record that was read inside a remote segment which a look at rest found finished and not going, with
-- the epoch that the segment's metadata gives to its offset; null if it gives none. A copy of what the log
-- start had passed need not name the epochs of offsets below it.
-- complete within the history
SELECT s.op, s.topic, s.partition, s.clock, least(s.began, r.began) AS began,
  greatest(s.ended, r.answered) AS ended, s.segment_id, r.record_offset, r.leader_epoch, e.epoch
FROM remote_segments s
JOIN records_seen r ON s.topic = r.topic AND s.partition = r.partition AND s.clock = r.clock
  AND r.f = 'fetch' AND r.record_offset BETWEEN s.start_offset AND s.end_offset
LEFT JOIN remote_epochs e ON s.clock = e.clock AND s.look = e.look AND s.segment_id = e.segment_id
  AND r.record_offset BETWEEN e.first_offset AND e.last_offset
WHERE s.finished AND NOT s.going AND s.latest AND r.leader_epoch IS NOT NULL
  AND (e.epoch IS NOT NULL OR s.log_start IS NULL OR r.record_offset >= s.log_start)
