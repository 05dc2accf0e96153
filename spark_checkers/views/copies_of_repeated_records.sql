-- Each offset at which a record of an idempotent send, tried more than once, was shown: read (`is_read`) or
-- acknowledged. `start_before` is the greatest offset at which the log may have started when it was
-- first shown there; null if none is known.
-- computed once
WITH traced AS (
  SELECT * FROM unsettled_reads_traced
  WHERE senders = 1 AND sent_type <> 'fail' AND producer_id IS NOT NULL AND coalesce(attempts, 2) > 1
),
elsewhere AS (
  SELECT DISTINCT topic, partition, sent_op, sent_position, acknowledged_offset, value, sent_clock,
    sent_ended
  FROM traced WHERE acknowledged_offset <> record_offset
),
shown AS (
  SELECT topic, partition, sent_op, sent_position, record_offset, clock, answered, 1 AS is_read
  FROM traced
  UNION ALL
  SELECT topic, partition, sent_op, sent_position, acknowledged_offset, sent_clock, sent_ended, 0
  FROM elsewhere
  UNION ALL
  SELECT e.topic, e.partition, e.sent_op, e.sent_position, s.record_offset, s.clock, s.answered, 1
  FROM elsewhere e
  JOIN records_seen s ON e.topic = s.topic AND e.partition = s.partition
    AND e.acknowledged_offset = s.record_offset AND e.value = s.value
),
copies AS (
  SELECT topic, partition, sent_op, sent_position, record_offset, max(is_read) = 1 AS is_read,
    min(answered) AS shown, CASE WHEN min(clock) = max(clock) THEN min(clock) END AS clock
  FROM shown
  GROUP BY topic, partition, sent_op, sent_position, record_offset
)
SELECT c.topic, c.partition, c.sent_op, c.sent_position, c.record_offset, c.is_read,
  max(s.log_start) AS start_before
FROM copies c
LEFT JOIN log_starts_possible s ON c.topic = s.topic AND c.partition = s.partition
  AND (s.since IS NULL OR c.clock IS NULL OR s.clock <> c.clock OR s.since < c.shown)
GROUP BY c.topic, c.partition, c.sent_op, c.sent_position, c.record_offset, c.is_read
