-- Each record that was read, or whose append was acknowledged, inside a remote segment which a look at rest
-- found finished and not going, with the epoch that the segment's metadata gives to its offset; null if it
-- gives none. `leader_epoch`: the epoch that it was read with; null if it was appended. A copy of what the log
-- start had passed need not name the epochs of offsets below it: what no DeleteRecords had asked to delete
-- when the copy was begun was not passed then. Retention passes whole segments, and this one stays. A copy
-- is begun when its first record says so, by the time of day, and no later than the first look at it.
-- complete within the history
WITH begun AS (
  SELECT clock, topic, partition, segment_id, min(happened) AS seen, min(event_timestamp) + 1 AS set_ms
  FROM remote_events WHERE event = 'segment'
  GROUP BY clock, topic, partition, segment_id
),
moments AS (
  SELECT o.clock, w.now_ms + CAST(floor((o.invoked_ns - w.time) / 1000000) AS BIGINT) AS ms,
    max(o.began) AS began
  FROM ops o JOIN wall_clocks w ON o.clock = w.clock
  GROUP BY o.clock, ms
),
copied AS (
  SELECT b.clock, b.topic, b.partition, b.segment_id, CASE WHEN w.clock IS NULL OR b.set_ms IS NULL THEN b.seen
    ELSE least(b.seen, coalesce(m.began, -9223372036854775807)) END AS begun
  FROM begun b
  ASOF LEFT JOIN moments m ON b.clock = m.clock AND b.set_ms >= m.ms
  LEFT JOIN wall_clocks w ON b.clock = w.clock
),
passed AS (
  SELECT c.clock, c.segment_id, max(p.log_start) AS below
  FROM copied c
  JOIN log_starts_possible p ON c.topic = p.topic AND c.partition = p.partition AND c.clock = p.clock
    AND p.since <= c.begun
  GROUP BY c.clock, c.segment_id
),
records AS (
  SELECT topic, partition, clock, began, answered AS ended, record_offset, leader_epoch
  FROM records_seen WHERE f = 'fetch' AND leader_epoch IS NOT NULL
  UNION ALL
  SELECT topic, partition, clock, began, ended, record_offset, NULL
  FROM records_sent WHERE type = 'ok' AND acks = -1
)
SELECT s.op, s.topic, s.partition, s.clock, least(s.began, r.began) AS began,
  greatest(s.ended, r.ended) AS ended, s.segment_id, r.record_offset, r.leader_epoch, e.epoch
FROM remote_segments s
JOIN records r ON s.topic = r.topic AND s.partition = r.partition AND s.clock = r.clock
  AND r.record_offset BETWEEN s.start_offset AND s.end_offset
LEFT JOIN remote_epochs e ON s.clock = e.clock AND s.look = e.look AND s.segment_id = e.segment_id
  AND r.record_offset BETWEEN e.first_offset AND e.last_offset
LEFT JOIN passed p ON s.clock = p.clock AND s.segment_id = p.segment_id
WHERE s.finished AND NOT s.going AND s.latest
  AND (e.epoch IS NOT NULL OR p.below IS NULL OR r.record_offset >= p.below)
