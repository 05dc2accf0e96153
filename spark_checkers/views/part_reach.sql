-- Each append, and each answer that names the latest offset, against everything that was over before
-- it began: `acked_earlier` is the first acknowledgement of an append beyond or beside it, `shown_earlier`
-- the first answer that showed a log beyond it. Offsets are the order of a log, so what was over before an
-- append began lies below it. An append at offset n stands at level 2n and an end n at level 2n - 1: an
-- append does not contradict its own acknowledgement, but it does contradict an end beyond it.
WITH levels AS (
  SELECT topic, partition, clock, 2 * base_offset AS level, base_offset AS told, TRUE AS appended,
    ended AS acked_at, CAST(NULL AS BIGINT) AS shown_at, began AS asked_at,
    coalesce(ended, began) AS done_at, op
  FROM part_appends
  UNION ALL
  SELECT topic, partition, clock, 2 * reach - 1, reach, FALSE, NULL, answered,
    CASE WHEN f = 'list_offsets' AND high_told IS NOT NULL THEN began END, answered, op
  FROM part_answers WHERE f IN ('fetch', 'list_offsets') AND reach >= 0
),
distinct_levels AS (
  SELECT fingerprint(topic, partition, 0, clock, '', 0) AS log, level, min(topic) AS topic,
    min(partition) AS partition, min(clock) AS clock, min(told) AS told, min(acked_at) AS acked_at,
    min(shown_at) AS shown_at, max(asked_at) AS asked_at, max(done_at) AS done_at,
    count(asked_at) AS times, max(CASE WHEN asked_at IS NOT NULL THEN op END) AS op
  FROM levels GROUP BY fingerprint(topic, partition, 0, clock, '', 0), level
),
placed AS (
  SELECT *,
    min(acked_at) OVER (PARTITION BY log ORDER BY level DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS acked_earlier,
    min(shown_at) OVER (PARTITION BY log ORDER BY level DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS shown_earlier
  FROM distinct_levels
)
SELECT op, topic, partition, level % 2 = 0 AS appended, told, times, clock, asked_at, acked_earlier,
  shown_earlier,
  least(asked_at, coalesce(acked_earlier, asked_at), coalesce(shown_earlier, asked_at)) AS began,
  done_at AS ended
FROM placed WHERE asked_at IS NOT NULL
