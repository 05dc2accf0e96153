-- Each value that polls must have shown: its last place is not above `bound`, the highest of the
-- first places of the values that ok polls showed, and its writer certainly took effect.
WITH bounds AS (
  SELECT topic, partition, max(first_place) AS bound FROM log_values
  WHERE seen_at IS NOT NULL GROUP BY topic, partition
)
SELECT v.writer_op AS op, v.topic, v.partition, v.value, v.writer, v.first_place, v.last_place,
  v.seen_at, b.bound
FROM log_values v
JOIN bounds b ON v.topic = b.topic AND v.partition = b.partition
WHERE v.last_place <= b.bound AND v.committed
