-- Markers of one producer in one epoch by one coordinator (`coordinator_epoch`) in the last whole read of a
-- log by each broker: how many there are, and of how many transactions they may be. A client of version 2
-- has a transaction an epoch, whose marker has the next one; markers of others have the epoch of their
-- transactions, or the next one where the producer was shut out.
-- complete within the producer
WITH marked AS (
  SELECT w.chain AS op, w.topic, w.partition, w.node, w.clock, w.answered, b.producer_id, b.producer_epoch,
    b.coordinator_epoch, count(*) AS markers, min(b.base_offset) AS first_offset,
    max(b.base_offset) AS last_offset
  FROM logs_read_whole w
  JOIN log_batches b ON w.op = b.op AND w.topic = b.topic AND w.partition = b.partition
  WHERE b.marker IS NOT NULL
  GROUP BY w.chain, w.topic, w.partition, w.node, w.clock, w.answered, b.producer_id, b.producer_epoch,
    b.coordinator_epoch
),
shown AS (
  SELECT topic, partition, clock, base_offset, min(answered) AS first_shown FROM log_batches
  WHERE marker IS NOT NULL
  GROUP BY topic, partition, clock, base_offset
),
asked AS (
  SELECT clock, transaction, producer_id, producer_epoch, began, NULL AS version FROM sends
  WHERE transaction IS NOT NULL AND producer_id IS NOT NULL
  UNION ALL
  SELECT clock, transaction, producer_id, producer_epoch, began, version FROM transaction_requests
  WHERE transaction IS NOT NULL AND producer_id IS NOT NULL
),
spoken AS (
  SELECT clock, given_id, min(version) AS version FROM transaction_requests
  WHERE given_id IS NOT NULL AND version IS NOT NULL GROUP BY clock, given_id
),
written AS (
  SELECT clock, transaction, producer_id, producer_epoch, min(began) AS began FROM asked
  GROUP BY clock, transaction, producer_id, producer_epoch
)
SELECT m.op, m.topic, m.partition, m.node, m.clock, m.producer_id, m.producer_epoch, m.coordinator_epoch,
  m.markers, m.first_offset, m.last_offset, count(DISTINCT a.transaction) AS transactions,
  min(coalesce(a.began, s.first_shown)) AS began, max(s.first_shown) AS ended
FROM marked m
JOIN spoken v ON m.clock = v.clock AND m.producer_id = v.given_id
JOIN shown s ON m.topic = s.topic AND m.partition = s.partition AND m.clock = s.clock
  AND s.base_offset = m.last_offset
LEFT JOIN written a ON m.clock = a.clock AND m.producer_id = a.producer_id
  AND (a.producer_epoch = m.producer_epoch - 1 OR v.version < 2 AND a.producer_epoch = m.producer_epoch)
GROUP BY m.op, m.topic, m.partition, m.node, m.clock, m.producer_id, m.producer_epoch,
  m.coordinator_epoch, m.markers, m.first_offset, m.last_offset
