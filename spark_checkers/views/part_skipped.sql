-- Each record acknowledged by all in-sync replicas that a reader passed over and that nobody of his
-- kind (`committed`) ever read. `jumped_from` is the lowest offset from which one jumped beyond it,
-- `jumped_op` the first who did.
-- computed once
SELECT min(sent_op) AS op, topic, partition, committed, missing_offset AS record_offset,
  min(transaction) AS transaction, min(follows) AS jumped_from, min(op) AS jumped_op,
  min(clock) AS clock, min(began) AS began, max(ended) AS ended
FROM part_missing
GROUP BY topic, partition, committed, missing_offset
HAVING count(*) = count(sent_op)
