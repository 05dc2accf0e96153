-- The operations of unknown outcome that certainly took effect: an ok operation saw a value that
-- they sent. What one operation sent took effect as a whole.
-- complete within the history
-- computed once
SELECT DISTINCT s.op
FROM records_sent s
JOIN log_told t ON s.topic = t.topic AND s.partition = t.partition AND s.value = t.value
WHERE s.f IN ('send', 'txn') AND s.type = 'info' AND t.seen_at IS NOT NULL
