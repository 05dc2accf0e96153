-- Each answered attempt to append a batch of an idempotent producer, in the order of its log, where
-- all that the producer tried before is known: nothing overlaps it, every earlier attempt was
-- acknowledged by all in-sync replicas or failed, and no send of it is transactional or has no answer.
-- `nth` is how many batches of it were appended before, and with it. `appends`: it is the first that was given its offset.
-- Of nearly all producers every attempt appended, one after the other (`plain`).
-- computed once
WITH attempts AS (
  SELECT op, topic, partition, clock, node, began, answered, type, error, answered_offset,
    fingerprint(topic, partition, send, 0, 0, 0) AS send_print
  FROM responses WHERE f = 'produce' AND answered IS NOT NULL AND send IS NOT NULL
),
answers AS (
  SELECT send_print, count(*) AS answers FROM attempts GROUP BY send_print
),
named AS (
  SELECT op, producer_id, producer_epoch, base_sequence, records, acks, attempts, transaction,
    fingerprint(topic, partition, send, 0, 0, 0) AS send_print,
    fingerprint(topic, partition, producer_id, 0, 0, 0) AS producer_print
  FROM sends WHERE producer_id IS NOT NULL
),
named_answered AS (
  SELECT s.*, a.answers FROM named s LEFT JOIN answers a ON s.send_print = a.send_print
),
all_answered AS (
  SELECT producer_print FROM named_answered GROUP BY producer_print
  HAVING max(CASE WHEN transaction IS NOT NULL OR answers IS NULL THEN 1 ELSE 0 END) = 0
),
sent AS (
  SELECT s.send_print, min(s.op) AS sent_op,
    min(s.producer_id) AS producer_id, min(s.producer_epoch) AS producer_epoch,
    min(s.base_sequence) AS base_sequence, min(s.records) AS records, min(s.acks) AS acks,
    sum(s.attempts) AS attempts, min(s.answers) AS answers
  FROM named_answered s
  JOIN all_answered k ON s.producer_print = k.producer_print
  WHERE s.producer_epoch IS NOT NULL AND s.base_sequence IS NOT NULL AND s.records > 0
  GROUP BY s.send_print
  HAVING min(s.producer_epoch) = max(s.producer_epoch) AND min(s.base_sequence) = max(s.base_sequence)
    AND min(s.records) = max(s.records) AND min(s.producer_id) = max(s.producer_id)
),
answered AS (
  SELECT r.*, fingerprint(r.topic, r.partition, s.producer_id, 0, 0, 0) AS producer_print, s.sent_op,
    s.producer_id, s.producer_epoch, s.base_sequence, s.records,
    r.type = 'info' OR coalesce(s.acks, 0) <> -1
      OR r.type = 'ok' AND coalesce(r.answered_offset, -1) < 0
      OR s.attempts IS NULL OR s.attempts <> s.answers AS unknown
  FROM attempts r
  JOIN sent s ON r.send_print = s.send_print
),
given_again AS (
  SELECT producer_print, answered_offset FROM answered WHERE type = 'ok'
  GROUP BY producer_print, answered_offset HAVING count(*) > 1
),
not_first AS (
  SELECT op FROM (
    SELECT a.op, row_number() OVER (PARTITION BY a.producer_print, a.answered_offset
      ORDER BY a.began, a.op) AS nth
    FROM answered a
    JOIN given_again g ON a.producer_print = g.producer_print
      AND a.answered_offset IS NOT DISTINCT FROM g.answered_offset
    WHERE a.type = 'ok'
  ) given WHERE nth > 1
),
tried AS (
  SELECT a.*, a.type = 'ok' AND n.op IS NULL AS appends
  FROM answered a LEFT JOIN not_first n ON a.op = n.op
),
turns AS (
  SELECT *, row_number() OVER turn AS turn, lag(answered) OVER turn AS earlier_answered,
    lead(began) OVER turn AS next_began
  FROM tried
  WINDOW turn AS (PARTITION BY producer_print ORDER BY began, op)
),
producers AS (
  SELECT producer_print,
    bool_and(coalesce(appends AND NOT unknown AND coalesce(earlier_answered, -1) < began, FALSE)) AS plain
  FROM turns GROUP BY producer_print HAVING min(clock) = max(clock)
),
numbered AS (
  SELECT t.*, turn - 1 AS nth_before, TRUE AS known
  FROM turns t
  JOIN producers p ON t.producer_print = p.producer_print
  WHERE p.plain
  UNION ALL
  SELECT t.*, coalesce(sum(CASE WHEN appends THEN 1 ELSE 0 END) OVER earlier, 0),
    coalesce(sum(CASE WHEN unknown THEN 1 ELSE 0 END) OVER earlier, 0) = 0
      AND coalesce(max(answered) OVER earlier, -1) < began AND coalesce(next_began > answered, TRUE)
  FROM turns t
  JOIN producers p ON t.producer_print = p.producer_print
  WHERE NOT p.plain
  WINDOW earlier AS (PARTITION BY t.producer_print ORDER BY began, op
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT op, topic, partition, clock, node, began, answered, type, error, answered_offset, sent_op,
  producer_print, producer_id, producer_epoch, base_sequence, records, appends, unknown, nth_before,
  nth_before + CASE WHEN appends THEN 1 ELSE 0 END AS nth
FROM numbered
WHERE known
