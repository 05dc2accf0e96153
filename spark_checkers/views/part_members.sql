-- Each record sent in a transaction.
-- computed once
SELECT topic, partition, op, value, record_offset, transaction, clock, began
FROM records_sent WHERE transaction IS NOT NULL
