-- Each transaction in each log that acknowledged records of it: since when it is open there for certain,
-- from which offset on, and until when nothing can have ended it: an end of it or of its producer that was
-- asked for, another producer with its id, or its time-out (`until_ns`). What was not answered may come
-- at any time.
-- complete within the transaction
-- computed once
WITH ids AS (
  SELECT clock, given_id, transactional_id, min(timeout_ms) AS timeout_ms FROM transaction_requests
  WHERE f = 'init_producer_id' AND given_id IS NOT NULL
  GROUP BY clock, given_id, transactional_id
),
written AS (
  SELECT s.clock, s.topic, s.partition, s.transaction, s.producer_id, s.producer_epoch,
    min(s.op) AS op, min(s.base_offset) AS first_offset, min(s.began) AS asked, min(s.ended) AS since
  FROM sends s
  WHERE s.transaction IS NOT NULL AND s.type = 'ok' AND s.producer_id IS NOT NULL
  GROUP BY s.clock, s.topic, s.partition, s.transaction, s.producer_id, s.producer_epoch
),
begun AS (
  SELECT w.transaction, w.clock, min(w.asked) AS asked FROM (
    SELECT transaction, clock, began AS asked FROM sends WHERE transaction IS NOT NULL
    UNION ALL
    SELECT transaction, clock, began FROM transaction_requests WHERE transaction IS NOT NULL
  ) w
  GROUP BY w.transaction, w.clock
),
started AS (
  SELECT b.transaction, b.clock, min(o.invoked_ns) AS started_ns
  FROM begun b JOIN ops o ON b.clock = o.clock AND b.asked = o.began
  GROUP BY b.transaction, b.clock
)
SELECT w.op, w.topic, w.partition, w.clock, w.transaction, i.transactional_id, w.producer_id,
  w.producer_epoch, w.first_offset, w.asked, w.since,
  min(CASE WHEN r.began >= w.asked OR r.type = 'info' THEN greatest(r.began, w.asked) END) AS until,
  min(t.started_ns) + 1000000 * min(i.timeout_ms) AS until_ns
FROM written w
JOIN ids i ON w.clock = i.clock AND w.producer_id = i.given_id
JOIN started t ON w.transaction = t.transaction AND w.clock = t.clock
LEFT JOIN transaction_requests r ON w.clock = r.clock AND r.transactional_id = i.transactional_id
  AND r.f IN ('init_producer_id', 'end_txn')
GROUP BY w.op, w.topic, w.partition, w.clock, w.transaction, i.transactional_id, w.producer_id,
  w.producer_epoch, w.first_offset, w.asked, w.since
