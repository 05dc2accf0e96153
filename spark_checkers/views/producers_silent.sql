-- Each producer that began elsewhere than its log had it go on, again and again in a phase of its own,
-- after its latest record had become older than producers are remembered: whether that was taken in the
-- end, in how many tries, and what the last of them was answered.
SELECT min(t.op) AS op, t.topic, t.partition, t.clock, t.producer_id, min(t.began) AS began,
  max(t.ended) AS ended, p.bound_ns, p.lasted_ns, count(*) AS tries,
  max(CASE WHEN t.type = 'ok' THEN 1 ELSE 0 END) = 1 AS taken, max(t.error) AS last_error,
  min(t.silent_ms) AS silent_ms, min(t.expiration_ms) AS expiration_ms,
  p.bound_ns / 1000000000 AS bound_s
FROM phases_in_peace p
JOIN producer_turns t ON t.clock = p.clock AND t.ended <= p.until
JOIN ops o ON t.op = o.op AND o.began >= p.since
WHERE p.phase = 'forget-producer' AND t.expected = 'gap' AND t.silent_ms >= t.expiration_ms
GROUP BY t.topic, t.partition, t.clock, t.producer_id, p.index, p.bound_ns, p.lasted_ns
