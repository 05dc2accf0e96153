-- Each acknowledged send of which a record was read at another offset than it was acknowledged, with all
-- offsets at which these records were read. `base_offset` and `last_base` as in part_observed.
-- computed once
WITH elsewhere AS (
  SELECT * FROM unsettled_reads_traced
  WHERE senders = 1 AND sent_type = 'ok' AND acknowledged_offset <> record_offset
),
reads AS (
  SELECT topic, partition, sent_op, sent_position, record_offset, answered FROM elsewhere
  UNION ALL
  SELECT e.topic, e.partition, e.sent_op, e.sent_position, s.record_offset, s.answered
  FROM (
    SELECT DISTINCT topic, partition, sent_op, sent_position, acknowledged_offset, value FROM elsewhere
  ) e
  JOIN records_seen s ON e.topic = s.topic AND e.partition = s.partition
    AND e.acknowledged_offset = s.record_offset AND e.value = s.value
)
SELECT r.sent_op AS op, r.topic, r.partition, s.clock, s.began, max(r.answered) AS read_until,
  min(r.record_offset - r.sent_position) AS base_offset,
  max(r.record_offset - r.sent_position) AS last_base,
  count(DISTINCT r.record_offset) AS offsets, count(DISTINCT r.sent_position) AS positions,
  s.producer_id, s.attempts
FROM reads r
JOIN sends s ON r.sent_op = s.op AND r.topic = s.topic AND r.partition = s.partition
GROUP BY r.sent_op, r.topic, r.partition, s.clock, s.began, s.producer_id, s.attempts
