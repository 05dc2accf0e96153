-- Each transaction in each log that it wrote to, as brokers show the log last: what the marker behind its
-- records says (`fate`), how it was ended (`decision`), and whether a commit was ever asked for. `late`: a
-- request to end another transaction of the same producer in the same epoch was not answered, and may
-- have ended this one, as nothing tells them apart before version 2. A send that failed has no batch, and its
-- sequence is the next transaction's in the same epoch; of two sends that may be one batch none is taken.
-- computed once
WITH sent AS (
  SELECT topic, partition, clock, producer_id, producer_epoch, base_sequence,
    min(transaction) AS transaction, min(began) AS began
  FROM sends
  WHERE transaction IS NOT NULL AND producer_id IS NOT NULL AND type <> 'fail'
  GROUP BY topic, partition, clock, producer_id, producer_epoch, base_sequence
  HAVING min(transaction) = max(transaction)
),
unanswered AS (
  SELECT clock, producer_id, producer_epoch, min(transaction) AS least, max(transaction) AS greatest
  FROM transaction_requests
  WHERE f = 'end_txn' AND type = 'info' AND transaction IS NOT NULL
  GROUP BY clock, producer_id, producer_epoch
)
SELECT f.op, f.topic, f.partition, f.clock, f.node, min(s.began) AS began, f.ended, s.transaction,
  f.producer_id, f.fate, min(f.base_offset) AS first_offset, count(*) AS batches, e.decision,
  e.commit_began, coalesce(e.ends, 0) AS ends,
  max(CASE WHEN u.least <> s.transaction OR u.greatest <> s.transaction THEN 1 ELSE 0 END) = 1 AS late
FROM batch_fates f
JOIN sent s ON f.topic = s.topic AND f.partition = s.partition AND f.clock = s.clock
  AND f.producer_id = s.producer_id AND f.producer_epoch = s.producer_epoch
  AND f.base_sequence = s.base_sequence
LEFT JOIN transactions_ended e ON s.transaction = e.transaction
LEFT JOIN unanswered u ON f.clock = u.clock AND f.producer_id = u.producer_id
  AND f.producer_epoch = u.producer_epoch
GROUP BY f.op, f.topic, f.partition, f.clock, f.node, f.ended, s.transaction, f.producer_id, f.fate,
  e.decision, e.commit_began, e.ends
