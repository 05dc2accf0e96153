-- Each record in an answer that is not, in all its parts, the one record acknowledged at its offset: its
-- append was never acknowledged, or something differs, or the offset was acknowledged twice. The
-- others, nearly all, need no second look: what is read at such an offset is what was sent.
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
    FROM records_sent r
    WHERE type = 'ok' AND record_offset IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM offsets_acknowledged_twice t
      WHERE t.topic = r.topic AND t.partition = r.partition AND t.record_offset = r.record_offset
    )
  ) a
  WHERE a.print = s.print
)
