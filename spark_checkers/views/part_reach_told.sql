-- Each row of part_reach with the operations that contradict it: `acked_op` was acknowledged
-- `acked_offset` at acked_earlier, `shown_op` was shown a log up to `shown_end` at shown_earlier. Only
-- violations are told from it.
WITH acked AS (
  SELECT op, topic, partition, clock, ended, base_offset,
    row_number() OVER (PARTITION BY topic, partition, clock, ended ORDER BY base_offset DESC, op) AS nth
  FROM part_appends WHERE ended IS NOT NULL
),
shown AS (
  SELECT op, topic, partition, clock, answered, reach,
    row_number() OVER (PARTITION BY topic, partition, clock, answered ORDER BY reach DESC, op) AS nth
  FROM part_answers WHERE f IN ('fetch', 'list_offsets') AND reach >= 0
)
SELECT r.*, a.op AS acked_op, a.base_offset AS acked_offset, s.op AS shown_op, s.reach AS shown_end
FROM part_reach r
LEFT JOIN acked a ON r.topic = a.topic AND r.partition = a.partition AND r.clock = a.clock
  AND r.acked_earlier = a.ended AND a.nth = 1 AND r.acked_earlier < r.asked_at
LEFT JOIN shown s ON r.topic = s.topic AND r.partition = s.partition AND r.clock = s.clock
  AND r.shown_earlier = s.answered AND s.nth = 1 AND r.shown_earlier < r.asked_at
