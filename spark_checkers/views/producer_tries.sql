-- Each answered attempt to append a batch of an idempotent producer, in the order of its log, where
-- all that the producer tried before is known: nothing overlaps it, and every earlier attempt was
-- acknowledged by all in-sync replicas or failed. `nth` is how many batches of it were appended before,
-- and with it. `appends`: it is the first that was given its offset.
-- computed once
WITH sent AS (
  SELECT topic, partition, send, min(op) AS sent_op, min(producer_id) AS producer_id,
    min(producer_epoch) AS producer_epoch, min(base_sequence) AS base_sequence, min(records) AS records,
    min(acks) AS acks, sum(attempts) AS attempts
  FROM sends
  WHERE producer_id IS NOT NULL AND producer_epoch IS NOT NULL AND base_sequence IS NOT NULL
    AND records > 0 AND transaction IS NULL
  GROUP BY topic, partition, send
  HAVING min(producer_epoch) = max(producer_epoch) AND min(base_sequence) = max(base_sequence)
    AND min(records) = max(records) AND min(producer_id) = max(producer_id)
),
tried AS (
  SELECT r.op, r.topic, r.partition, r.clock, r.node, r.began, r.answered, r.type, r.error,
    r.answered_offset, s.sent_op, s.producer_id, s.producer_epoch, s.base_sequence, s.records,
    r.type = 'ok' AND row_number() OVER (PARTITION BY r.topic, r.partition, s.producer_id, r.type,
      r.answered_offset ORDER BY r.began, r.op) = 1 AS appends,
    r.type = 'info' OR coalesce(s.acks, 0) <> -1
      OR r.type = 'ok' AND coalesce(r.answered_offset, -1) < 0
      OR s.attempts IS NULL OR s.attempts <> count(*) OVER (PARTITION BY r.topic, r.partition, r.send)
      AS unknown
  FROM responses r
  JOIN sent s ON r.topic = s.topic AND r.partition = s.partition AND r.send = s.send
  WHERE r.f = 'produce' AND r.answered IS NOT NULL
),
numbered AS (
  SELECT op, topic, partition, clock, node, began, answered, type, error, answered_offset, sent_op,
    producer_id, producer_epoch, base_sequence, records, appends, unknown,
    coalesce(max(answered) OVER earlier, -1) AS earlier_answered,
    coalesce(sum(CASE WHEN unknown THEN 1 ELSE 0 END) OVER earlier, 0) AS earlier_unknown,
    coalesce(sum(CASE WHEN appends THEN 1 ELSE 0 END) OVER earlier, 0) AS nth_before,
    min(clock) OVER one AS least_clock, max(clock) OVER one AS greatest_clock
  FROM tried
  WINDOW earlier AS (PARTITION BY topic, partition, producer_id ORDER BY began, op
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
    one AS (PARTITION BY topic, partition, producer_id)
)
SELECT op, topic, partition, clock, node, began, answered, type, error, answered_offset, sent_op,
  producer_id, producer_epoch, base_sequence, records, appends, unknown, nth_before,
  nth_before + CASE WHEN appends THEN 1 ELSE 0 END AS nth
FROM numbered
WHERE least_clock = greatest_clock AND earlier_unknown = 0 AND earlier_answered < began
