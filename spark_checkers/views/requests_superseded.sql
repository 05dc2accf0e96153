-- Each append or request of a transactional producer with the newest epoch of its producer id that another
-- InitProducerId had handed out (`newest`) before it was asked. An append over all its attempts.
WITH handed AS (
  SELECT clock, given_id, given_epoch, ended FROM transaction_requests
  WHERE f = 'init_producer_id' AND type = 'ok' AND given_id IS NOT NULL
),
asked AS (
  SELECT op, topic, partition, clock, began, coalesce(ended, 9223372036854775807) AS ended, 'produce' AS f, type, error, producer_id, producer_epoch
  FROM sends WHERE transaction IS NOT NULL AND producer_id IS NOT NULL
  UNION ALL
  SELECT op, NULL, NULL, clock, began, answered, f, type, error, producer_id, producer_epoch
  FROM transaction_requests
  WHERE f <> 'init_producer_id' AND producer_id IS NOT NULL AND answered IS NOT NULL
)
SELECT a.op, a.topic, a.partition, a.clock, a.began, a.ended, a.f, a.type, a.error, a.producer_id,
  a.producer_epoch, max(h.given_epoch) AS newest
FROM asked a
JOIN handed h ON a.clock = h.clock AND a.producer_id = h.given_id AND h.ended < a.began
GROUP BY a.op, a.topic, a.partition, a.clock, a.began, a.ended, a.f, a.type, a.error, a.producer_id,
  a.producer_epoch
