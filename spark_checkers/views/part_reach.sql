-- Each append, and each answer that names the latest offset, against everything that was over before
-- it began: `acked_earlier` is the first acknowledgement of an append beyond it, or of another at its
-- offset, `shown_earlier` the first answer that showed a log beyond it. Offsets are the order of a log,
-- so what was over before an append began lies below it. An append at offset n stands at level 2n and an
-- end n at level 2n - 1: an append does not contradict its own acknowledgement, but it does contradict
-- an end beyond it. Where assumptions were broken at times, the operations of each stretch of time in
-- which they held are compared among themselves (`span`). `after_acks`, `after_answers`: there was one
-- before it began.
WITH levels AS (
  SELECT topic, partition, clock, 2 * base_offset AS level, base_offset AS told, 'durable' AS kind,
    ended AS acked_at, CAST(NULL AS BIGINT) AS shown_at, TRUE AS asked,
    coalesce(ended, began) AS done_at, op, began
  FROM part_appends
  UNION ALL
  SELECT topic, partition, clock, 2 * reach - 1, reach, 'led', NULL, answered,
    f = 'list_offsets' AND high_told IS NOT NULL, answered, op, began
  FROM part_answers WHERE f IN ('fetch', 'list_offsets') AND reach >= 0
),
spanned AS (
  SELECT l.*, coalesce(s.kind || CAST(s.after AS STRING), '') AS span,
    CASE WHEN l.asked AND (b.clock IS NULL OR s.kind = l.kind) THEN l.began END AS asked_at
  FROM levels l
  LEFT JOIN spans_unbroken s ON s.kind IN ('durable', 'led') AND l.clock = s.clock
    AND l.began > s.after AND l.done_at < s.before
  LEFT JOIN clocks_with_windows b ON l.clock = b.clock
  WHERE s.clock IS NOT NULL OR b.clock IS NULL
),
distinct_levels AS (
  SELECT fingerprint(topic, partition, 0, clock, span, 0) AS log, level, min(topic) AS topic,
    min(partition) AS partition, min(clock) AS clock, min(told) AS told, min(acked_at) AS acked_at,
    min(shown_at) AS shown_at, max(asked_at) AS asked_at, max(done_at) AS done_at,
    count(asked_at) AS times, max(CASE WHEN asked_at IS NOT NULL THEN op END) AS op
  FROM spanned GROUP BY fingerprint(topic, partition, 0, clock, span, 0), level
),
placed AS (
  SELECT *,
    min(acked_at) OVER (PARTITION BY log ORDER BY level DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS acked_earlier,
    min(shown_at) OVER (PARTITION BY log ORDER BY level DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS shown_earlier,
    min(acked_at) OVER (PARTITION BY log) AS first_acked,
    min(shown_at) OVER (PARTITION BY log) AS first_shown
  FROM distinct_levels
)
SELECT op, topic, partition, level % 2 = 0 AS appended, told, times, clock, asked_at, acked_earlier,
  shown_earlier, coalesce(first_acked < asked_at, FALSE) AS after_acks,
  coalesce(first_shown < asked_at, FALSE) AS after_answers,
  least(asked_at, coalesce(acked_earlier, asked_at), coalesce(shown_earlier, asked_at)) AS began,
  done_at AS ended
FROM placed WHERE asked_at IS NOT NULL
