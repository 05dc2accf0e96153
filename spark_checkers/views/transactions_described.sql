-- Each answer of a coordinator about a transactional id whose transaction was open in a log for certain at
-- that time: its state, and whether it names the log.
SELECT d.op, o.topic, o.partition, d.clock, min(o.asked) AS began, d.answered AS ended,
  d.transactional_id, d.state, d.producer_epoch, o.producer_epoch AS open_epoch, o.transaction,
  max(CASE WHEN p.op IS NOT NULL THEN 1 ELSE 0 END) = 1 AS named
FROM transactions_told d
JOIN ops a ON d.op = a.op
JOIN transactions_open o ON d.clock = o.clock AND d.transactional_id = o.transactional_id
  AND o.since < d.began
LEFT JOIN transaction_partitions p ON d.op = p.op AND o.topic = p.topic
  AND o.partition = p.partition
WHERE d.f = 'describe_transactions' AND d.type = 'ok' AND coalesce(o.until > d.answered, TRUE)
  AND coalesce(a.completed_ns < o.until_ns, TRUE)
GROUP BY d.op, o.topic, o.partition, d.clock, d.answered, d.transactional_id, d.state,
  d.producer_epoch, o.producer_epoch, o.transaction
