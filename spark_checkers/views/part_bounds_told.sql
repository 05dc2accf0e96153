-- Each row of part_bounds with the operation that contradicts it: `shown_op` was answered at
-- shown_earlier, by the same replica in the same epoch where the bound is one of a replica. Only
-- violations are told from it.
WITH shown AS (
  SELECT op, topic, partition, clock, node, epoch, answered, 'replica' AS whose,
    reach, greatest(coalesce(stable_told, -1), coalesce(last_offset + 1, -1)) AS stable,
    start_told AS log_start
  FROM part_answers WHERE epoch IS NOT NULL
  UNION ALL
  SELECT op, topic, partition, clock, NULL, NULL, answered, 'log', NULL, NULL,
    coalesce(log_start_offset, asked_offset)
  FROM part_answers WHERE f = 'delete_records'
),
beyond AS (
  SELECT b.topic, b.partition, b.clock, b.bound, b.node, b.epoch, b.level, b.span,
    min(s.op) AS shown_op
  FROM part_bounds b
  JOIN shown s ON b.topic = s.topic AND b.partition = s.partition AND b.clock = s.clock
    AND b.shown_earlier = s.answered AND b.shown_earlier < b.asked_at
    AND b.node IS NOT DISTINCT FROM s.node AND b.epoch IS NOT DISTINCT FROM s.epoch
    AND CASE b.bound WHEN 'high_watermark' THEN s.reach WHEN 'last_stable_offset' THEN s.stable
      ELSE s.log_start END > b.level
  GROUP BY b.topic, b.partition, b.clock, b.bound, b.node, b.epoch, b.level, b.span
)
SELECT b.*, o.shown_op
FROM part_bounds b
LEFT JOIN beyond o ON b.topic = o.topic AND b.partition = o.partition AND b.clock = o.clock
  AND b.bound = o.bound AND b.node IS NOT DISTINCT FROM o.node
  AND b.epoch IS NOT DISTINCT FROM o.epoch AND b.level = o.level
  AND b.span IS NOT DISTINCT FROM o.span
