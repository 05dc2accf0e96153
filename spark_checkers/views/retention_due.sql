-- Each log in a phase in which retention was waited for, with the last log start that was named in it.
-- `old_end`: all records below it were older than retention.ms when the phase began, and the record there
-- is so much later than each of them that it stands in a later segment. `bytes_left`: how many bytes
-- the values have that stand at or beyond the log start; `segment_bytes`: how many the records have at
-- most that may stand in one segment with the first of them, by segment.ms, by segment.bytes, and by its
-- index: that has an entry of 8 bytes for every batch behind more than index.interval.bytes.
WITH looks AS (
  SELECT p.index, p.clock, p.since, p.until, p.since_ns, p.until_ns, p.bound_ns, r.op, r.topic,
    r.partition, r.began, r.answered, r.answered_offset,
    row_number() OVER (PARTITION BY p.index, r.topic, r.partition ORDER BY r.began DESC) AS back,
    count(*) OVER (PARTITION BY p.index, r.topic, r.partition) AS tries
  FROM phases p
  JOIN responses r ON r.clock = p.clock AND r.began >= p.since AND r.answered <= p.until
  WHERE p.phase = 'retention' AND p.bound_ns IS NOT NULL AND p.until IS NOT NULL
    AND r.f = 'list_offsets' AND r.type = 'ok' AND r.asked_timestamp = -2
),
last_looks AS (
  SELECT l.op, l.topic, l.partition, l.clock, l.since, l.answered, l.answered_offset, l.tries, l.bound_ns,
    l.until_ns - l.since_ns AS lasted_ns, l.since_ns, t.retention_ms, t.retention_bytes, t.segment_ms,
    t.segment_bytes, t.index_interval_bytes, t.segment_index_bytes, w.now_ms + CAST(floor((l.since_ns - w.time) / 1000000) AS BIGINT) AS now_ms
  FROM looks l
  JOIN topic_configs t ON l.topic = t.topic
  JOIN wall_clocks w ON l.clock = w.clock
  WHERE l.back = 1
),
records AS (
  SELECT l.op, r.op AS sent_op, r.record_offset, r.timestamp, length(r.value) AS size, l.retention_ms, l.segment_ms,
    l.now_ms, min(CASE WHEN r.record_offset >= l.answered_offset THEN r.record_offset END)
      OVER (PARTITION BY l.op) AS first_offset, max(r.timestamp) OVER (PARTITION BY l.op ORDER BY r.record_offset
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS latest_before,
    r.record_offset >= l.answered_offset AS stays
  FROM last_looks l
  JOIN records_sent r ON l.topic = r.topic AND l.partition = r.partition AND l.clock = r.clock
  WHERE r.type = 'ok' AND r.acks = -1 AND r.record_offset IS NOT NULL AND r.ended < l.since
),
batches AS (
  SELECT op, max(size) AS batch_bytes
  FROM (SELECT op, sum(size + 120) AS size FROM records GROUP BY op, sent_op) sent
  GROUP BY op
),
firsts AS (
  SELECT op, min(timestamp) AS timestamp FROM records WHERE record_offset = first_offset GROUP BY op
),
ends AS (
  SELECT r.op, max(CASE WHEN latest_before < now_ms - retention_ms
      AND r.timestamp > latest_before + segment_ms THEN record_offset END) AS old_end,
    sum(CASE WHEN stays THEN size ELSE 0 END) AS bytes_left,
    sum(CASE WHEN stays AND r.timestamp <= f.timestamp + segment_ms THEN size + 120 ELSE 0 END)
      AS segment_bytes
  FROM records r
  LEFT JOIN firsts f ON r.op = f.op
  GROUP BY r.op
)
SELECT l.op, l.topic, l.partition, l.clock, l.since AS began, l.answered AS ended, l.answered_offset,
  l.tries, l.bound_ns, l.lasted_ns, l.bound_ns / 1000000000 AS bound_s, l.retention_ms,
  l.retention_bytes, e.old_end, e.bytes_left, least(e.segment_bytes, l.segment_bytes,
    (floor(l.segment_index_bytes / 8) + 2) * (l.index_interval_bytes + b.batch_bytes)) AS segment_bytes
FROM last_looks l
JOIN ends e ON l.op = e.op
JOIN batches b ON l.op = b.op
