-- Each record in an answer that is not, in all its parts, the one record acknowledged at its offset: its
-- append was never acknowledged, or something differs, or the offset was acknowledged twice. The
-- others, nearly all, need no second look: what is read at such an offset is what was sent.
-- computed once
WITH reads AS (
  SELECT *, fingerprint(topic, partition, record_offset, value, record_key, timestamp) AS print
  FROM records_seen
),
acknowledged AS (
  SELECT fingerprint(topic, partition, record_offset, value, record_key, timestamp) AS print
  FROM records_sent WHERE type = 'ok' AND record_offset IS NOT NULL
)
SELECT op, mop, position, topic, partition, record_offset, value, record_key, timestamp, isolation, clock,
  began, answered
FROM reads s WHERE NOT EXISTS (SELECT 1 FROM acknowledged a WHERE a.print = s.print)
UNION ALL
SELECT s.op, s.mop, s.position, s.topic, s.partition, s.record_offset, s.value, s.record_key, s.timestamp,
  s.isolation, s.clock, s.began, s.answered
FROM reads s
JOIN offsets_acknowledged_twice t ON s.topic = t.topic AND s.partition = t.partition
  AND s.record_offset = t.record_offset
WHERE EXISTS (SELECT 1 FROM acknowledged a WHERE a.print = s.print)
