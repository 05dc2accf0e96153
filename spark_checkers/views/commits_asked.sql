-- Each answered request to commit a transaction of which records were acknowledged, by a producer that no
-- other has replaced, before its time-out: nothing else has ended it, as no end of another kind was asked
-- for, and no producer began anew since (also none whose request may come late).
-- complete within the transaction
WITH opened AS (
  SELECT clock, transaction, transactional_id, min(until_ns) AS until_ns, min(asked) AS asked,
    min(topic) AS topic, min(partition) AS partition
  FROM transactions_open GROUP BY clock, transaction, transactional_id
),
rivals AS (
  SELECT o.clock, o.transaction, count(*) AS rivals
  FROM opened o
  JOIN transaction_requests r ON o.clock = r.clock AND o.transactional_id = r.transactional_id
  WHERE (r.f = 'init_producer_id' AND (r.began >= o.asked OR r.type = 'info'))
    OR (r.f = 'end_txn' AND (NOT r.committed AND r.transaction = o.transaction
      OR r.type = 'info' AND r.transaction <> o.transaction))
  GROUP BY o.clock, o.transaction
)
SELECT r.op, o.topic, o.partition, r.clock, o.asked AS began, r.answered AS ended,
  r.transaction, r.transactional_id, r.type, r.error, r.producer_epoch
FROM transaction_requests r
JOIN opened o ON r.clock = o.clock AND r.transaction = o.transaction
LEFT JOIN rivals v ON r.clock = v.clock AND r.transaction = v.transaction
WHERE r.f = 'end_txn' AND r.committed AND r.answered IS NOT NULL AND v.transaction IS NULL
  AND r.completed_ns < o.until_ns
