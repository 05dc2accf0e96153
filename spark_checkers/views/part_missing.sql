-- Each record that a jump passes over and that is known: read by another reader (of the same kind, if
-- the one who jumped may be kept from transactions), or acknowledged by all in-sync replicas.
-- `known_op` read or sent it. `visible`: it stands there for the reader who jumped, whatever becomes of
-- transactions.
-- computed once
WITH logs AS (
  SELECT DISTINCT topic, partition, committed, shift FROM part_gaps
),
known AS (
  SELECT l.topic, l.partition, l.committed, l.shift, s.record_offset, s.record_offset >> l.shift AS stretch,
    s.op AS known_op, TRUE AS visible, CAST(NULL AS BIGINT) AS sent_op, CAST(NULL AS STRING) AS transaction,
    s.began, s.answered AS ended
  FROM records_seen s
  JOIN logs l ON s.topic = l.topic AND s.partition = l.partition
  WHERE NOT l.committed OR s.isolation = 'read_committed'
  UNION ALL
  SELECT l.topic, l.partition, l.committed, l.shift, r.record_offset, r.record_offset >> l.shift,
    r.op, NOT l.committed OR r.transaction IS NULL, r.op, r.transaction, r.began, r.ended
  FROM records_sent r
  JOIN logs l ON r.topic = l.topic AND r.partition = l.partition
  WHERE r.type = 'ok' AND r.acks = -1 AND r.record_offset IS NOT NULL
)
SELECT g.op, g.topic, g.partition, g.committed, g.record_offset, g.follows, g.clock,
  k.record_offset AS missing_offset, k.known_op, k.visible, k.sent_op, k.transaction,
  least(g.began, k.began) AS began, greatest(g.answered, k.ended) AS ended
FROM part_gaps g
JOIN known k ON g.topic = k.topic AND g.partition = k.partition AND g.committed = k.committed
  AND g.shift = k.shift AND g.stretch = k.stretch
WHERE k.record_offset BETWEEN g.first_missing AND g.last_missing
