-- Each answered attempt to append a batch of an idempotent producer, in the order of its log, where
-- all that the producer tried before is known: nothing overlaps it, every earlier attempt was
-- acknowledged by all in-sync replicas or failed, and no send of it is transactional or has no answer. `nth` is how many batches of it were appended before,
-- and with it. `appends`: it is the first that was given its offset.
-- computed once
WITH answered_sends AS (
  SELECT DISTINCT topic, partition, send FROM responses WHERE f = 'produce' AND answered IS NOT NULL
),
known AS (
  SELECT s.topic, s.partition, s.producer_id
  FROM sends s
  LEFT JOIN answered_sends a ON s.topic = a.topic AND s.partition = a.partition AND s.send = a.send
  WHERE s.producer_id IS NOT NULL
  GROUP BY s.topic, s.partition, s.producer_id
  HAVING max(CASE WHEN s.transaction IS NOT NULL OR a.send IS NULL THEN 1 ELSE 0 END) = 0
),
sent AS (
  SELECT s.topic, s.partition, s.send, min(s.op) AS sent_op, min(s.producer_id) AS producer_id,
    min(s.producer_epoch) AS producer_epoch, min(s.base_sequence) AS base_sequence,
    min(s.records) AS records, min(s.acks) AS acks, sum(s.attempts) AS attempts
  FROM sends s
  JOIN known k ON s.topic = k.topic AND s.partition = k.partition AND s.producer_id = k.producer_id
  WHERE s.producer_epoch IS NOT NULL AND s.base_sequence IS NOT NULL AND s.records > 0
  GROUP BY s.topic, s.partition, s.send
  HAVING min(s.producer_epoch) = max(s.producer_epoch) AND min(s.base_sequence) = max(s.base_sequence)
    AND min(s.records) = max(s.records) AND min(s.producer_id) = max(s.producer_id)
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
    lead(began) OVER (PARTITION BY topic, partition, producer_id ORDER BY began, op) AS next_began,
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
  AND coalesce(next_began > answered, TRUE)
