-- Each record in an answer that is not, in all its parts, the record acknowledged at its offset: its
-- append was never acknowledged, or something differs. The others, nearly all, need no second look:
-- what readers of such an offset saw is what was sent, and so the same for all of them.
-- computed once
SELECT s.op, s.position, s.topic, s.partition, s.record_offset, s.value, s.record_key,
  s.timestamp, s.isolation, s.clock, s.began, s.answered
FROM (
  SELECT *, fingerprint(topic, partition, record_offset, value, record_key, timestamp) AS print
  FROM records_seen
) s
WHERE NOT EXISTS (
  SELECT 1 FROM (
    SELECT fingerprint(topic, partition, record_offset, value, record_key, timestamp) AS print
    FROM records_sent WHERE type = 'ok' AND record_offset IS NOT NULL
  ) a
  WHERE a.print = s.print
)
