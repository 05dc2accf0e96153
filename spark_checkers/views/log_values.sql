-- Each value of a log with all that is known of it: `log_told`, whether its writer certainly took
-- effect (`committed`), its `place` in the order of versions, the first and the last place at which
-- anybody showed it, and at how many offsets (`copies`; `copies_above_0` leaves offset 0 out).
-- `shown_op` is the operation that was the first to show the last of these offsets.
-- computed once
WITH placed AS (
  SELECT topic, partition, value, max(CASE WHEN chosen THEN place END) AS place,
    min(place) AS first_place, max(place) AS last_place, count(*) AS copies,
    sum(CASE WHEN record_offset > 0 THEN 1 ELSE 0 END) AS copies_above_0,
    min(record_offset) AS first_offset, max(record_offset) AS last_offset, max(op) AS shown_op
  FROM log_order GROUP BY topic, partition, value
)
SELECT t.topic, t.partition, t.value, t.writer, t.writer_op, t.failed, t.acked_at, t.seen_at,
  t.writer_type = 'ok' OR p.op IS NOT NULL AS committed,
  o.place, o.first_place, o.last_place, o.copies, o.copies_above_0, o.first_offset, o.last_offset,
  o.shown_op
FROM log_told t
LEFT JOIN placed o ON t.topic = o.topic AND t.partition = o.partition AND t.value = o.value
LEFT JOIN log_proven p ON t.writer_op = p.op
