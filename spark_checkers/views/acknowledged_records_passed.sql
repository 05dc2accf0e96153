-- Each record acknowledged by all in-sync replicas with each reader (`reader_op`) that passed over its
-- offset, or that read an unsettled record there; one row for each log stands for settled reads, which
-- found it. Records of transactions that were not committed for certain are left to readers who see them
-- whatever becomes of the transaction.
SELECT sent_op AS op, topic, partition, missing_offset AS record_offset, op AS reader_op,
  follows AS passed_from, CAST(NULL AS STRING) AS read_value, 1 AS times, FALSE AS found, clock, began,
  ended
FROM part_missing WHERE sent_op IS NOT NULL AND visible
UNION ALL
SELECT holder_op, topic, partition, record_offset, op, NULL, value, times, found, clock, began, ended
FROM reads_at_acknowledged_offsets r
LEFT JOIN transactions_committed c ON r.holder_transaction = c.transaction
WHERE holder_transaction IS NULL OR c.transaction IS NOT NULL OR isolation = 'read_uncommitted'
