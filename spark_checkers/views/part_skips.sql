-- Each record that does not follow the one before it, with the last record in the gap that its reader
-- was to see; and for each log one row that stands for the records that followed without a gap.
SELECT j.op, j.topic, j.partition, j.record_offset, j.follows, m.missing_offset, m.known_op,
  1 AS times, j.clock, coalesce(m.began, j.began) AS began, coalesce(m.ended, j.answered) AS ended
FROM part_jumps j
LEFT JOIN (
  SELECT op, topic, partition, record_offset, follows, max(missing_offset) AS missing_offset,
    min(known_op) AS known_op, min(began) AS began, max(ended) AS ended
  FROM part_missing WHERE visible
  GROUP BY op, topic, partition, record_offset, follows
) m ON j.op = m.op AND j.topic = m.topic AND j.partition = m.partition
  AND j.record_offset = m.record_offset AND j.follows = m.follows
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, NULL, NULL, sum(followed), NULL, NULL, NULL
FROM part_reads WHERE followed > 0
GROUP BY topic, partition
