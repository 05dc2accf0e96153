-- Each fetch that was to be served and came back empty. `known_op` proves that there is a record at
-- that very offset for such a reader, `served` that somebody was given it. One row for each log stands
-- for the fetches that were given something.
WITH known AS (
  SELECT e.op, min(s.op) AS known_op, TRUE AS served, min(s.began) AS since, max(s.answered) AS until
  FROM part_unserved e
  JOIN records_seen s ON e.topic = s.topic AND e.partition = s.partition
    AND e.asked_offset = s.record_offset
  WHERE NOT e.committed OR s.isolation = 'read_committed'
  GROUP BY e.op
  UNION ALL
  SELECT e.op, min(r.op), FALSE, min(r.began), max(r.ended)
  FROM part_unserved e
  JOIN records_sent r ON e.topic = r.topic AND e.partition = r.partition
    AND e.asked_offset = r.record_offset
  LEFT JOIN transactions_committed c ON r.transaction = c.transaction
  WHERE r.type = 'ok' AND r.acks = -1
    AND (NOT e.committed OR r.transaction IS NULL OR c.transaction IS NOT NULL)
  GROUP BY e.op
)
SELECT e.op, e.topic, e.partition, e.node, e.asked_offset, e.high_watermark, e.last_stable_offset,
  e.clock, least(e.began, coalesce(k.since, e.began)) AS began,
  greatest(e.answered, coalesce(k.until, e.answered)) AS ended, 1 AS times, FALSE AS given, k.known_op,
  coalesce(k.served, FALSE) AS served
FROM part_unserved e
LEFT JOIN (
  SELECT op, min(known_op) AS known_op, max(served) AS served, min(since) AS since, max(until) AS until
  FROM known GROUP BY op
) k ON e.op = k.op
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, NULL, NULL, NULL, NULL, NULL, count(*), TRUE, NULL, TRUE
FROM responses
WHERE f = 'fetch' AND type = 'ok' AND records > 0 AND request IS NULL
GROUP BY topic, partition
