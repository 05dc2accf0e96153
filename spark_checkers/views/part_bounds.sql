-- Each distinct value of a bound that only rises, as answers named it (`times`: how many) after somebody
-- had been told one. Facts say
-- since when somebody knew that the bound is at least `level` (`shown_at`), questions when an answer
-- that says `level` began (`asked_at`, the latest of them); `shown_earlier` is the first time that a
-- greater value was known. An answer is stale if that lies before it began. Only answers of one stretch
-- of time in which the assumptions held are compared (`span`). Bounds:
--   high_watermark, last_stable_offset, log_start_offset: of one replica in one leader epoch
--   deleted_served, deleted_told: of all replicas, after delete_records
WITH deleted AS (
  SELECT DISTINCT topic, partition FROM responses WHERE f = 'delete_records'
),
levels AS (
  SELECT 1 AS bound, topic, partition, clock, node, epoch, high_told AS level,
    answered AS shown_at, began AS asked_at, answered AS done_at, op, began
  FROM part_answers WHERE high_told >= 0 AND epoch IS NOT NULL
  UNION ALL
  SELECT 1, topic, partition, clock, node, epoch, reach, answered, NULL, answered, op, began
  FROM part_answers WHERE reach > coalesce(high_told, -1) AND epoch IS NOT NULL
  UNION ALL
  SELECT 2, topic, partition, clock, node, epoch, stable_told,
    CASE WHEN f = 'fetch' OR isolation = 'read_committed' THEN answered END, began, answered, op,
    began
  FROM part_answers WHERE stable_told >= 0 AND epoch IS NOT NULL
  UNION ALL
  SELECT 2, topic, partition, clock, node, epoch, last_offset + 1, answered, NULL,
    answered, op, began
  FROM part_answers
  WHERE isolation = 'read_committed' AND last_offset >= last_stable_offset AND epoch IS NOT NULL
  UNION ALL
  SELECT 3, topic, partition, clock, node, epoch, start_told, answered, began,
    answered, op, began
  FROM part_answers WHERE start_told >= 0 AND epoch IS NOT NULL
  UNION ALL
  SELECT 3, topic, partition, clock, node, epoch, first_offset, NULL, began, answered,
    op, began
  FROM part_answers
  WHERE f = 'fetch' AND first_offset < coalesce(log_start_offset, first_offset + 1)
    AND epoch IS NOT NULL
  UNION ALL
  SELECT 4, topic, partition, clock, NULL, NULL, greatest(log_start_offset, asked_offset),
    answered, NULL, answered, op, began
  FROM part_answers WHERE f = 'delete_records'
  UNION ALL
  SELECT 5, topic, partition, clock, NULL, NULL, greatest(log_start_offset, asked_offset),
    answered, NULL, answered, op, began
  FROM part_answers WHERE f = 'delete_records'
  UNION ALL
  SELECT 4, a.topic, a.partition, a.clock, NULL, NULL, a.first_offset, NULL, a.began,
    a.answered, a.op, a.began
  FROM part_answers a
  JOIN deleted d ON a.topic = d.topic AND a.partition = d.partition
  WHERE a.f = 'fetch' AND a.first_offset IS NOT NULL
  UNION ALL
  SELECT 5, a.topic, a.partition, a.clock, NULL, NULL, a.start_told, NULL, a.began,
    a.answered, a.op, a.began
  FROM part_answers a
  JOIN deleted d ON a.topic = d.topic AND a.partition = d.partition
  WHERE a.start_told >= 0
),
spanned AS (
  SELECT l.*, s.after AS span
  FROM (SELECT *, CASE WHEN bound <= 3 THEN 'running' ELSE 'led and running' END AS kind FROM levels) l
  LEFT JOIN spans_unbroken s ON l.kind = s.kind AND l.clock = s.clock AND l.began > s.after
    AND l.done_at < s.before
  LEFT JOIN clocks_with_windows b ON l.clock = b.clock
  WHERE s.clock IS NOT NULL OR b.clock IS NULL
),
distinct_levels AS (
  SELECT log, level, min(bound) AS bound, min(topic) AS topic, min(partition) AS partition,
    min(clock) AS clock, min(span) AS span, min(node) AS node, min(epoch) AS epoch,
    min(shown_at) AS shown_at, max(asked_at) AS asked_at, max(done_at) AS done_at,
    count(asked_at) AS times,
    max(CASE WHEN asked_at IS NOT NULL THEN op END) AS op
  FROM (
    SELECT *, fingerprint(topic, partition, node, clock,
      CAST(bound AS STRING) || coalesce('/' || CAST(span AS STRING), ''), epoch) AS log
    FROM spanned
  ) marked
  GROUP BY log, level
),
placed AS (
  SELECT *, min(shown_at) OVER (PARTITION BY log ORDER BY level DESC
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS shown_earlier,
    min(shown_at) OVER (PARTITION BY log) AS first_shown
  FROM distinct_levels
)
SELECT op, topic, partition, CASE bound WHEN 1 THEN 'high_watermark' WHEN 2 THEN 'last_stable_offset'
    WHEN 3 THEN 'log_start_offset' WHEN 4 THEN 'deleted_served' ELSE 'deleted_told' END AS bound,
  node, epoch, level, times, clock, span, asked_at, shown_earlier,
  least(asked_at, coalesce(shown_earlier, asked_at)) AS began, done_at AS ended
FROM placed WHERE first_shown < asked_at
