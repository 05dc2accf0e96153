-- Each transaction with the kinds of markers that brokers show behind its records, in all logs: `logs`
-- that have some of them, `kinds` of markers that there are; one log with each of two kinds.
-- complete within the transaction
SELECT min(op) AS op, min(topic) AS topic, min(partition) AS partition, clock, min(began) AS began,
  max(ended) AS ended, transaction, count(DISTINCT topic || '-' || partition) AS logs,
  count(DISTINCT fate) AS kinds,
  min(CASE WHEN fate = 'commit' THEN topic || '-' || partition END) AS committed_in,
  min(CASE WHEN fate = 'abort' THEN topic || '-' || partition END) AS aborted_in
FROM transaction_marks
WHERE fate IS NOT NULL AND NOT late
GROUP BY transaction, clock
