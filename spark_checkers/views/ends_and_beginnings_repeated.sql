-- Each InitProducerId or EndTxn of a transactional id that nothing came between since an acknowledged one
-- (`before_f`) but requests that were refused: the answer that follows from it (`due`, NONE if it is done)
-- and the epoch that is given then (`due_epoch`, null if none is). No transaction was open.
-- complete within the history
WITH asked AS (
  SELECT *, coalesce(producer_id, -1) AS as_id, coalesce(producer_epoch, -1) AS as_epoch,
    coalesce(given_id, producer_id) AS id, coalesce(given_epoch, producer_epoch) AS epoch
  FROM transaction_requests
),
before AS (
  SELECT r.op, max(b.op) AS before_op
  FROM asked r JOIN asked b ON r.clock = b.clock AND r.transactional_id = b.transactional_id
    AND b.type = 'ok' AND b.ended < r.began
  WHERE r.f IN ('init_producer_id', 'end_txn') AND r.answered IS NOT NULL
  GROUP BY r.op
),
pairs AS (
  SELECT r.op, r.clock, r.began, r.answered, r.f, r.transactional_id, r.type, r.error, r.version,
    r.as_id, r.as_epoch, r.committed, r.given_id, r.given_epoch, b.op AS before_op,
    b.f AS before_f, b.began AS before_began, b.as_id AS before_as_id, b.as_epoch AS before_as_epoch, b.id, b.epoch,
    b.committed AS before_committed
  FROM before p JOIN asked r ON p.op = r.op JOIN asked b ON p.before_op = b.op
  WHERE b.f IN ('init_producer_id', 'end_txn') AND r.version = b.version
),
told AS (
  SELECT *, CASE
    WHEN f = 'init_producer_id' AND as_id = -1 THEN 'NONE'
    WHEN f = 'init_producer_id' AND as_id <> id THEN 'PRODUCER_FENCED'
    WHEN f = 'init_producer_id' AND as_epoch = epoch THEN 'NONE'
    WHEN f = 'init_producer_id' AND before_f = 'end_txn' AND as_epoch = epoch - 1 THEN NULL
    WHEN f = 'init_producer_id' AND before_as_id = as_id AND before_as_epoch = as_epoch THEN 'NONE'
    WHEN f = 'init_producer_id' THEN 'PRODUCER_FENCED'
    WHEN as_id <> id THEN 'INVALID_PRODUCER_ID_MAPPING'
    WHEN version < 2 AND as_epoch <> epoch THEN 'PRODUCER_FENCED'
    WHEN version < 2 AND before_f = 'end_txn' AND committed = before_committed THEN 'NONE'
    WHEN version < 2 THEN 'INVALID_TXN_STATE'
    WHEN as_epoch = epoch AND committed THEN 'INVALID_TXN_STATE'
    WHEN as_epoch = epoch THEN 'NONE'
    WHEN before_f = 'init_producer_id' OR as_epoch <> epoch - 1 THEN 'PRODUCER_FENCED'
    WHEN committed = before_committed THEN 'NONE'
    ELSE 'INVALID_TXN_STATE' END AS due
  FROM pairs
  WHERE before_as_id IN (-1, id)
)
SELECT t.op, NULL AS topic, NULL AS partition, t.clock, t.began, t.answered AS ended, t.f,
  t.transactional_id, t.version, t.type, t.error, t.as_id, t.as_epoch, t.committed, t.before_f,
  t.before_op, t.id, t.epoch, t.due, t.given_id, t.given_epoch,
  CASE WHEN t.due <> 'NONE' OR t.f = 'end_txn' AND t.version < 2 THEN NULL
    WHEN t.as_epoch IN (-1, t.epoch) THEN t.epoch + 1 ELSE t.epoch END AS due_epoch
FROM told t
WHERE t.due IS NOT NULL
  -- Nothing else was under way, or may come late; what was refused in between changed nothing.
  AND NOT EXISTS (
    SELECT 1 FROM transaction_requests o
    WHERE o.clock = t.clock AND o.transactional_id = t.transactional_id
      AND o.op NOT IN (t.op, t.before_op) AND o.began < t.answered
      AND (o.answered IS NULL OR o.answered > t.before_began OR o.error IS NULL AND o.type <> 'ok')
      AND coalesce(o.error, '') NOT IN ('INVALID_TXN_STATE', 'PRODUCER_FENCED',
        'INVALID_PRODUCER_EPOCH', 'INVALID_PRODUCER_ID_MAPPING', 'CONCURRENT_TRANSACTIONS'))
  AND NOT EXISTS (
    SELECT 1 FROM sends s
    WHERE s.clock = t.clock AND s.producer_id = t.id AND s.transaction IS NOT NULL
      AND s.began < t.answered AND coalesce(s.ended, 9223372036854775807) > t.before_began)
