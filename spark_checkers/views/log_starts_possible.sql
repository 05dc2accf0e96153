-- Each offset at which a log may have started, and since when (`since`; null: nobody can say): one that
-- delete_records asked for, unless it failed for certain, or one that an answer named. A start that no
-- request explains comes from retention, at any time before it was named.
-- computed once
WITH deletions AS (
  SELECT topic, partition, clock, began, asked_offset,
    CASE WHEN asked_offset >= 0 THEN asked_offset WHEN type = 'ok' THEN log_start_offset END AS log_start
  FROM responses WHERE f = 'delete_records' AND type <> 'fail'
  UNION ALL
  SELECT topic, partition, clock, began, NULL, NULL
  FROM ops WHERE f = 'delete_records' AND completion IS NULL
),
named AS (
  SELECT topic, partition, clock, log_start, min(began) AS began
  FROM (
    SELECT topic, partition, clock, began,
      CASE WHEN f = 'delete_records' THEN log_start_offset ELSE start_told END AS log_start
    FROM part_answers
  ) starts
  WHERE log_start >= 0
  GROUP BY topic, partition, clock, log_start
)
SELECT topic, partition, clock, coalesce(log_start, 9223372036854775807) AS log_start,
  min(began) AS since
FROM deletions GROUP BY topic, partition, clock, log_start
UNION ALL
SELECT n.topic, n.partition, n.clock, n.log_start,
  CASE WHEN d.asked_offset >= n.log_start THEN n.began END
FROM named n
LEFT JOIN (
  SELECT topic, partition, max(asked_offset) AS asked_offset FROM deletions GROUP BY topic, partition
) d ON n.topic = d.topic AND n.partition = d.partition
