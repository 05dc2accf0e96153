-- Each remote segment that a look at rest found in the metadata topic: what its first record says, the
-- state that its last record gives it, and the objects that the store has of it. `log_start` is the log
-- start that the leader named at that look; `latest`: whether it is the last look at rest; `records` and
-- `greatest`: how many acknowledged records stand in it, and the latest of their timestamps.
-- complete within the history
-- computed once
WITH starts AS (
  SELECT probe, clock, happened, look, topic, topic_id, partition, segment_id, start_offset, end_offset,
    leader_epoch, max_timestamp, size, deleted
  FROM remote_events
  WHERE resting AND event = 'segment'
),
states AS (
  SELECT clock, look, segment_id, max(state) AS state, max(CASE WHEN state = 1 THEN 1 ELSE 0 END) AS finished,
    max(CASE WHEN state >= 2 THEN 1 ELSE 0 END) AS going
  FROM remote_events
  WHERE resting AND segment_id IS NOT NULL
  GROUP BY clock, look, segment_id
),
sent AS (
  SELECT s.clock, s.look, s.segment_id, count(*) AS records, max(r.timestamp) AS greatest
  FROM starts s
  JOIN records_sent r ON s.topic = r.topic AND s.partition = r.partition AND s.clock = r.clock
  WHERE r.type = 'ok' AND r.record_offset BETWEEN s.start_offset AND s.end_offset
  GROUP BY s.clock, s.look, s.segment_id
)
SELECT s.probe AS op, s.topic, s.partition, s.clock, s.happened AS began, s.happened AS ended, s.look,
  s.topic_id, s.segment_id, s.start_offset, s.end_offset, s.leader_epoch, s.max_timestamp, s.size, s.deleted,
  t.state, t.finished = 1 AS finished, t.going = 1 AS going, coalesce(p.log_bytes, 0) AS log_bytes,
  coalesce(p.logs, 0) AS logs, coalesce(p.offset_indexes, 0) AS offset_indexes,
  coalesce(p.time_indexes, 0) AS time_indexes, coalesce(p.snapshots, 0) AS snapshots,
  coalesce(p.epoch_files, 0) AS epoch_files, coalesce(p.objects, 0) AS objects,
  l.log_start, l.local_start, l.log_end, l.last_stable, coalesce(n.records, 0) AS records, n.greatest,
  s.look = max(s.look) OVER (PARTITION BY s.clock) AS latest
FROM starts s
JOIN states t ON s.clock = t.clock AND s.look = t.look AND s.segment_id = t.segment_id
LEFT JOIN remote_parts p ON s.clock = p.clock AND s.look = p.look AND s.segment_id = p.segment_id
LEFT JOIN sent n ON s.clock = n.clock AND s.look = n.look AND s.segment_id = n.segment_id
LEFT JOIN remote_logs l ON s.clock = l.clock AND s.look = l.look AND s.topic = l.topic
  AND s.partition = l.partition
