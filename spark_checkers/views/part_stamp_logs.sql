-- Each log in which somebody searched by timestamp (-3 asks for the greatest), by the reader's kind
-- (`committed`), by clock and by the stretch of time, between `after` and `before`, in which the
-- assumptions held; `log` is all of these. `log_start` is the greatest log start that was shown then, and
-- `last_shown` when the last answer that showed one began: what is not below that start was in the log
-- at every moment before that answer. `transacts`: somebody sent to it in a transaction.
-- computed once
WITH searches AS (
  SELECT DISTINCT a.topic, a.partition, a.clock,
    coalesce(a.isolation, 'unknown') <> 'read_uncommitted' AS committed,
    coalesce(s.after, -9223372036854775807) AS after, coalesce(s.before, 9223372036854775807) AS before
  FROM offsets_listed a
  LEFT JOIN spans_unbroken s ON s.kind = 'led and kept' AND a.clock = s.clock AND a.began > s.after
    AND a.answered < s.before
  LEFT JOIN clocks_with_windows b ON a.clock = b.clock
  WHERE a.type = 'ok' AND (a.asked_timestamp >= 0 OR a.asked_timestamp = -3)
    AND (s.clock IS NOT NULL OR b.clock IS NULL)
),
starts AS (
  SELECT x.topic, x.partition, x.clock, x.after,
    max(CASE WHEN p.f = 'delete_records' THEN p.log_start_offset ELSE p.start_told END) AS log_start,
    max(CASE WHEN p.start_told >= 0 THEN p.began END) AS last_shown
  FROM (SELECT DISTINCT topic, partition, clock, after, before FROM searches) x
  JOIN part_answers p ON x.topic = p.topic AND x.partition = p.partition AND x.clock = p.clock
    AND p.began > x.after AND p.answered < x.before
  GROUP BY x.topic, x.partition, x.clock, x.after
)
SELECT x.topic, x.partition, x.clock, x.after, x.before, x.committed, s.log_start, s.last_shown,
  t.topic IS NOT NULL AS transacts,
  fingerprint(x.topic, x.partition, CAST(x.committed AS BIGINT), x.clock, '', x.after) AS log
FROM searches x
JOIN starts s ON x.topic = s.topic AND x.partition = s.partition AND x.clock = s.clock
  AND x.after = s.after
LEFT JOIN (SELECT DISTINCT topic, partition FROM sends WHERE transaction IS NOT NULL) t
  ON x.topic = t.topic AND x.partition = t.partition
WHERE s.log_start >= 0
