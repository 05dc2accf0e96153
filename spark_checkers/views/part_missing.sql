-- Each record that a jump passes over and that is known: read by another reader (of the same kind, if
-- the one who jumped may be kept from transactions), or acknowledged by all in-sync replicas.
-- `known_op` read or sent it. `visible`: it stands there for the reader who jumped: it is in no
-- transaction, or in one that was committed, or the reader sees all. What the same answer gives out of
-- order is not passed over.
-- computed once
WITH kinds AS (
  SELECT DISTINCT log, committed, shift FROM part_gaps
),
records AS (
  SELECT topic, partition, fingerprint(topic, partition, 0, '', '', 0) AS log, record_offset,
    op AS known_op, coalesce(isolation = 'read_committed', FALSE) AS committed_only,
    CAST(NULL AS BIGINT) AS sent_op, CAST(NULL AS STRING) AS transaction, began, answered AS ended
  FROM records_seen
  UNION ALL
  SELECT topic, partition, fingerprint(topic, partition, 0, '', '', 0), record_offset, op, TRUE, op,
    transaction, began, ended
  FROM records_sent WHERE type = 'ok' AND acks = -1 AND record_offset IS NOT NULL
),
known AS (
  SELECT r.record_offset, r.known_op, r.sent_op, r.transaction, r.began, r.ended,
    fingerprint(r.topic, r.partition, r.record_offset >> k.shift, CAST(k.committed AS STRING), '',
      k.shift) AS print
  FROM records r
  JOIN kinds k ON r.log = k.log
  WHERE NOT k.committed OR r.committed_only
),
passed AS (
  SELECT g.op, g.topic, g.partition, g.committed, g.record_offset, g.follows, g.clock,
    k.record_offset AS missing_offset, k.known_op, k.sent_op, k.transaction,
    NOT g.committed OR k.transaction IS NULL OR c.transaction IS NOT NULL AS visible,
    max(CASE WHEN k.known_op = g.op AND k.sent_op IS NULL THEN 1 ELSE 0 END) OVER (
      PARTITION BY g.op, g.topic, g.partition, k.record_offset) AS given,
    least(g.began, k.began) AS began, greatest(g.answered, k.ended) AS ended
  FROM part_gaps g
  JOIN known k ON g.print = k.print
  LEFT JOIN transactions_committed c ON k.transaction = c.transaction
  WHERE k.record_offset BETWEEN g.first_missing AND g.last_missing
)
SELECT op, topic, partition, committed, record_offset, follows, clock, missing_offset, known_op,
  sent_op, transaction, visible, began, ended
FROM passed WHERE given = 0
