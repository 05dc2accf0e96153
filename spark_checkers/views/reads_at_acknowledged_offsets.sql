-- Each unsettled read of an offset that all in-sync replicas acknowledged to a send (`holder_op`), and
-- whether it is the record of that send (`found`). Sends of one batch, which was repeated, are one. Of
-- several sends the row names one that was not found, if there is one, and of these the latest. One row
-- for each log stands for its settled reads.
-- computed once
WITH holders AS (
  SELECT u.*, h.op AS holder_op, h.value AS holder_value, h.transaction AS holder_transaction,
    h.began AS holder_began, h.ended AS holder_ended,
    max(CASE WHEN h.value IS NOT DISTINCT FROM u.value THEN 1 ELSE 0 END) OVER (
      PARTITION BY u.op, u.mop, u.position, u.topic, u.partition, h.producer_id, h.producer_epoch,
        h.sequence, CASE WHEN h.sequence IS NULL THEN h.op END) AS found
  FROM unsettled_reads u
  JOIN records_sent h ON u.topic = h.topic AND u.partition = h.partition
    AND u.record_offset = h.record_offset
  WHERE h.type = 'ok' AND h.acks = -1
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY op, mop, position, topic, partition
    ORDER BY found, holder_began DESC, holder_op) AS nth
  FROM holders
)
SELECT op, topic, partition, record_offset, value, isolation, clock, holder_op, holder_value,
  holder_transaction, found = 1 AS found, least(began, holder_began) AS began,
  greatest(answered, holder_ended) AS ended, 1 AS times
FROM ranked WHERE nth = 1
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, NULL, NULL, NULL, NULL, NULL, TRUE, NULL, NULL, times
FROM settled_reads
