-- Each fetch and each DeleteRecords that was answered, with what the same replica showed in the same
-- stretch of time in which the assumptions held: `reach`, how far it had shown the log as committed
-- before; `start_before`, the log start that it had named before; `high_later`, the least high watermark
-- that it names later, as leader in the same epoch; `sent`, how many records were ever sent to the log.
-- The three are looked for only where the bounds that the log ever had do not allow what was asked.
WITH shown AS (
  SELECT p.op, p.topic, p.partition, p.clock, p.node, p.f, p.began, p.answered, p.reach, p.high_told,
    CASE WHEN p.start_told >= 0 THEN p.start_told END AS start_told, coalesce(s.after, 0) AS span
  FROM part_answers p
  LEFT JOIN spans_unbroken s ON s.kind = 'led and running' AND p.clock = s.clock AND p.began > s.after
    AND p.answered < s.before
  LEFT JOIN clocks_with_windows b ON p.clock = b.clock
  WHERE p.node IS NOT NULL AND (s.clock IS NOT NULL OR b.clock IS NULL)
),
asked AS (
  SELECT r.op, r.topic, r.partition, r.clock, r.node, r.f, r.began, r.answered, r.type, r.error,
    r.asked_offset, r.log_start_offset, coalesce(s.after, 0) AS span
  FROM responses r
  LEFT JOIN spans_unbroken s ON s.kind = 'led and running' AND r.clock = s.clock AND r.began > s.after
    AND r.answered < s.before
  LEFT JOIN clocks_with_windows b ON r.clock = b.clock
  WHERE r.f IN ('fetch', 'delete_records') AND r.node IS NOT NULL AND r.asked_offset IS NOT NULL
    AND (s.clock IS NOT NULL OR b.clock IS NULL)
),
sent AS (
  SELECT topic, partition, sum(records * coalesce(attempts, 1000)) AS records
  FROM sends GROUP BY topic, partition
),
ever AS (
  SELECT topic, partition, max(start_told) AS start, min(CASE WHEN high_told >= 0 THEN high_told END) AS high
  FROM part_answers WHERE node IS NOT NULL GROUP BY topic, partition
),
doubtful AS (
  SELECT a.op, a.topic, a.partition, a.clock, a.node, a.span, a.began, a.answered
  FROM asked a
  JOIN ever e ON a.topic = e.topic AND a.partition = e.partition
  LEFT JOIN sent s ON a.topic = s.topic AND a.partition = s.partition
  WHERE a.f <> 'fetch' OR a.asked_offset < e.start
    OR a.asked_offset > e.high + coalesce(s.records, 0)
),
moments AS (
  SELECT topic, partition, clock, node, span, began AS moment, 0 AS turn, 'before' AS kind, op,
    CAST(NULL AS BIGINT) AS reach, CAST(NULL AS BIGINT) AS start_told, CAST(NULL AS BIGINT) AS high_told
  FROM doubtful
  UNION ALL
  SELECT topic, partition, clock, node, span, answered, 0, 'after', op, NULL, NULL, NULL FROM doubtful
  UNION ALL
  SELECT topic, partition, clock, node, span, answered, 1, 'fact', op, reach, start_told, NULL FROM shown
  WHERE EXISTS (
    SELECT 1 FROM doubtful d WHERE d.topic = shown.topic AND d.partition = shown.partition)
  UNION ALL
  SELECT topic, partition, clock, node, span, began, -1, 'later', op, NULL, NULL,
    CASE WHEN high_told >= 0 THEN high_told END
  FROM shown
  WHERE EXISTS (
    SELECT 1 FROM doubtful d WHERE d.topic = shown.topic AND d.partition = shown.partition)
),
known AS (
  SELECT op, kind, max(reach) OVER forth AS reach, max(start_told) OVER forth AS start_before,
    min(high_told) OVER back AS high_later
  FROM moments
  WINDOW forth AS (PARTITION BY topic, partition, clock, node, span ORDER BY moment, turn, op, kind
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
    back AS (PARTITION BY topic, partition, clock, node, span
      ORDER BY moment DESC, turn DESC, op DESC, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
bounds AS (
  SELECT op, max(CASE WHEN kind = 'before' THEN reach END) AS reach,
    max(CASE WHEN kind = 'before' THEN start_before END) AS start_before,
    max(CASE WHEN kind = 'after' THEN high_later END) AS high_later
  FROM known WHERE kind IN ('before', 'after') GROUP BY op
)
SELECT a.op, a.topic, a.partition, a.clock, a.node, a.f, a.began, a.answered AS ended, a.type, a.error,
  a.asked_offset, a.log_start_offset, b.reach, b.start_before, b.high_later,
  coalesce(s.records, 0) AS sent
FROM asked a
LEFT JOIN bounds b ON a.op = b.op
LEFT JOIN sent s ON a.topic = s.topic AND a.partition = s.partition
