-- Each answer of a coordinator about a transactional id of which an end was the last thing that was asked,
-- and all that was asked before it was answered: its state, and that end. Appends count, too: they may
-- begin a transaction.
-- complete within the history
WITH ids AS (
  SELECT DISTINCT clock, given_id, transactional_id FROM transaction_requests WHERE given_id IS NOT NULL
),
requests AS (
  SELECT clock, transactional_id, op, began, answered, type, f, committed, transaction
  FROM transaction_requests
  UNION ALL
  SELECT s.clock, i.transactional_id, s.op, s.began, s.ended, 'ok', 'produce', NULL, s.transaction
  FROM sends s
  JOIN ids i ON s.clock = i.clock AND s.producer_id = i.given_id
  WHERE s.transaction IS NOT NULL
),
asked AS (
  SELECT r.clock, r.transactional_id, r.op, r.began, r.answered, r.type, r.f, r.committed, r.transaction,
    sum(CASE WHEN r.type = 'info' THEN 1 ELSE 0 END) OVER (PARTITION BY r.clock, r.transactional_id
      ORDER BY r.began, r.op ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS unknown,
    lead(r.began) OVER (PARTITION BY r.clock, r.transactional_id ORDER BY r.began, r.op) AS next_began
  FROM requests r
)
SELECT d.op, NULL AS topic, NULL AS partition, d.clock, e.began, d.answered AS ended, d.transactional_id,
  d.state, e.committed, e.transaction, e.op AS end_op
FROM transactions_told d
JOIN asked e ON d.clock = e.clock AND d.transactional_id = e.transactional_id AND e.answered < d.began
  AND coalesce(e.next_began > d.answered, TRUE)
WHERE d.f = 'describe_transactions' AND d.type = 'ok' AND e.f = 'end_txn' AND e.type = 'ok'
  AND e.unknown = 0
