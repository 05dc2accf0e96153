-- Each broker as each other one sees it in the last look of a phase. `down`: a fault kept it from
-- answering during the whole phase; `up`: none touched it.
SELECT s.op, s.clock, s.began, s.ended, s.whole, s.bound_s, CAST(NULL AS STRING) AS topic,
  CAST(NULL AS INT) AS partition, b.node, b.broker, b.fenced,
  coalesce(max(CASE WHEN o.since <= s.began AND o.until >= s.ended THEN 1 ELSE 0 END), 0) = 1 AS down,
  max(o.op) IS NULL AS up
FROM settle_looks s
JOIN brokers_told b ON b.clock = s.clock AND b.look = s.look AND b.began >= s.began AND b.began <= s.ended
LEFT JOIN broker_outages o ON o.clock = s.clock AND o.broker = b.broker AND o.since <= s.ended
  AND o.until >= s.began
WHERE s.phase = 'settle'
GROUP BY s.op, s.clock, s.began, s.ended, s.whole, s.bound_s, b.node, b.broker, b.fenced
