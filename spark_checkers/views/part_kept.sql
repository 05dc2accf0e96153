-- Each acknowledged record that readers passed: one row for each log stands for those they found at
-- their offsets, and each one they did not find has its own. Records of transactions are left to
-- readers who see them whatever becomes of the transaction.
SELECT op, topic, partition, record_offset, jumped_from, jumped_op, 1 AS times, FALSE AS found, clock, began,
  ended
FROM part_skipped WHERE transaction IS NULL OR NOT committed
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, NULL, times, TRUE, NULL, NULL, NULL
FROM part_settled
