-- Each transaction that sent and polled, and the first value it polled of its own (by the first send
-- to the log, then by the send of the value), null if there is none.
-- complete within the history
WITH own AS (
  SELECT s.op, s.topic, s.partition, s.value, s.mop, s.first_mop
  FROM (
    SELECT op, topic, partition, value, mop,
      min(mop) OVER (PARTITION BY op, topic, partition) AS first_mop
    FROM records_sent WHERE f = 'txn'
  ) s
  JOIN records_seen r
    ON s.op = r.op AND s.topic = r.topic AND s.partition = r.partition AND s.value = r.value
),
first_own AS (
  SELECT op, topic, partition, value,
    row_number() OVER (PARTITION BY op ORDER BY first_mop, mop, topic, value) AS turn
  FROM own
),
transactions AS (
  SELECT r.op, r.completion, r.clock, r.began, r.answered AS ended
  FROM records_seen r
  JOIN (SELECT DISTINCT op FROM records_sent WHERE f = 'txn') s ON r.op = s.op
  GROUP BY r.op, r.completion, r.clock, r.began, r.answered
)
SELECT t.op, t.completion, o.topic, o.partition, o.value, t.clock, t.began, t.ended
FROM transactions t
LEFT JOIN first_own o ON t.op = o.op AND o.turn = 1
