-- Each record in a gap that its reader was to see, with who knows of it (`known_op`); each gap without
-- such a record; and for each log one row that stands for the records that followed without a gap.
SELECT op, topic, partition, record_offset, follows, missing_offset, known_op, 1 AS times, clock, began,
  ended
FROM part_missing WHERE visible
UNION ALL
SELECT op, topic, partition, record_offset, follows, NULL, NULL, 1, clock, began, answered
FROM part_jumps j
WHERE NOT EXISTS (
  SELECT 1 FROM part_missing m
  WHERE m.visible AND m.op = j.op AND m.topic = j.topic AND m.partition = j.partition
    AND m.record_offset = j.record_offset AND m.follows = j.follows
)
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, NULL, NULL, sum(followed), NULL, NULL, NULL
FROM part_reads WHERE followed > 0
GROUP BY topic, partition
