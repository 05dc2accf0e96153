-- Each answer that names the last stable offset of a log while a transaction is open in it for certain,
-- with the first offset of any such transaction.
SELECT r.op, r.topic, r.partition, r.node, r.clock, min(t.asked) AS began, r.answered AS ended,
  r.last_stable_offset, r.high_watermark, min(t.first_offset) AS open_from,
  min_by(t.transaction, t.first_offset) AS transaction
FROM responses r
JOIN ops o ON r.op = o.op
JOIN transactions_open t ON r.topic = t.topic AND r.partition = t.partition AND r.clock = t.clock
  AND t.since < r.began
WHERE r.f = 'fetch' AND r.type = 'ok' AND r.last_stable_offset IS NOT NULL
  AND coalesce(t.until > r.answered, TRUE) AND coalesce(o.completed_ns < t.until_ns, TRUE)
GROUP BY r.op, r.topic, r.partition, r.node, r.clock, r.answered, r.last_stable_offset,
  r.high_watermark
