-- Each log in a phase in which all transactions are to come to their end: what was told last of it in that
-- phase, by its leader of open transactions (`open_from`, null if none is open) and by an answer to a
-- reader of its last stable offset and high watermark.
WITH waited AS (
  SELECT index, clock, since, until, bound_ns, lasted_ns FROM phases_in_peace
  WHERE phase = 'transactions-rest'
),
told AS (
  SELECT p.index, t.op, t.topic, t.partition, t.clock, t.producer_id, t.open_from,
    dense_rank() OVER (PARTITION BY p.index, t.topic, t.partition ORDER BY t.op DESC) AS back
  FROM waited p
  JOIN producers_told t ON t.clock = p.clock AND t.began >= p.since AND t.answered <= p.until
  WHERE t.type = 'ok'
),
opened AS (
  SELECT index, topic, partition, max(op) AS op, max(back) AS tries,
    min(CASE WHEN back = 1 AND open_from >= 0 THEN open_from END) AS open_from,
    min(CASE WHEN back = 1 AND open_from >= 0 THEN producer_id END) AS producer_id
  FROM told
  GROUP BY index, topic, partition
),
reads AS (
  SELECT p.index, r.topic, r.partition, r.last_stable_offset, r.high_watermark,
    row_number() OVER (PARTITION BY p.index, r.topic, r.partition ORDER BY r.began DESC, r.op DESC)
      AS back
  FROM waited p
  JOIN responses r ON r.clock = p.clock AND r.began >= p.since AND r.answered <= p.until
  WHERE r.f = 'fetch' AND r.type = 'ok'
)
SELECT o.op, o.topic, o.partition, p.clock, p.since AS began, p.until AS ended, p.bound_ns, p.lasted_ns,
  p.bound_ns / 1000000000 AS bound_s, o.tries, o.open_from, o.producer_id, r.last_stable_offset,
  r.high_watermark
FROM opened o
JOIN waited p ON o.index = p.index
LEFT JOIN reads r ON o.index = r.index AND o.topic = r.topic AND o.partition = r.partition
  AND r.back = 1
