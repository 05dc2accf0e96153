-- Each stray, and whether all who read its offset saw the same (`readers` are all of them, `strays`
-- those who saw strays; the others saw what was acknowledged there); and for each log one row that
-- stands for its settled records, of which there is nothing to say but how many they are.
-- `first_offset` is where the appends of this history begin: what is below may be older. `unplaced`: of
-- some sends to the topic nobody knows the partition.
WITH contested AS (
  SELECT o.topic, o.partition, o.record_offset, o.strays, count(*) AS readers,
    min(s.op) AS first_reader, max(s.op) AS last_reader, o.least_value,
    o.greatest_value, o.least = o.most AS alike, min(s.began) AS began, max(s.answered) AS ended
  FROM part_contested o
  JOIN records_seen s ON o.topic = s.topic AND o.partition = s.partition
    AND o.record_offset = s.record_offset
  GROUP BY o.topic, o.partition, o.record_offset, o.strays, o.least_value, o.greatest_value, o.least,
    o.most
)
SELECT s.op, s.topic, s.partition, s.record_offset, s.value, s.record_key, s.timestamp, s.clock,
  least(c.began, coalesce(s.sent_began, c.began), coalesce(s.holder_began, c.began)) AS began,
  c.ended, 1 AS times, FALSE AS settled, f.first_offset, u.topic IS NOT NULL AS unplaced, c.readers,
  c.alike AND c.readers = c.strays AS agreed, c.first_reader, c.last_reader, c.least_value, c.greatest_value, s.senders, s.sent_op,
  s.sent_key, s.sent_timestamp, s.acknowledged_offset, s.producer_id, s.attempts, s.holder_op,
  s.holder_value
FROM part_strays s
JOIN contested c ON s.topic = c.topic AND s.partition = c.partition
  AND s.record_offset = c.record_offset
LEFT JOIN (
  SELECT topic, partition, min(base_offset) AS first_offset FROM part_appends
  GROUP BY topic, partition
) f ON s.topic = f.topic AND s.partition = f.partition
LEFT JOIN (SELECT DISTINCT topic FROM records_sent WHERE partition IS NULL) u ON s.topic = u.topic
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, NULL, NULL, NULL, NULL, NULL, times, TRUE, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM part_settled
