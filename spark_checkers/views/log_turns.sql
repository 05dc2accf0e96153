-- Each time a process polled a log or sent to it: one row per operation, log and `way`, with the first
-- and the last value and their places. `changes` counts the assignments of the process that took
-- effect before, `keeps` those of them that name the log: between two turns the process kept the log
-- if both grew alike. An assignment that failed, or never ended, changes nothing.
-- complete within the history
-- computed once
WITH polls AS (
  SELECT op, completion, process, type, topic, partition, clock, began, answered AS ended
  FROM responses WHERE f IN ('poll', 'txn') AND completion IS NOT NULL
  GROUP BY op, completion, process, type, topic, partition, clock, began, answered
),
poll_ends AS (
  SELECT op, topic, partition, min_by(value, turn) AS first_value, max_by(value, turn) AS last_value,
    min_by(place, turn) AS first_place, max_by(place, turn) AS last_place
  FROM (
    SELECT op, topic, partition, value, coalesce(place, -1) AS place,
      CAST(mop AS BIGINT) * 4294967296 + position AS turn
    FROM log_polled
  ) polled
  GROUP BY op, topic, partition
),
turns AS (
  SELECT 'poll' AS way, p.op, p.completion, p.process, p.type, p.topic, p.partition, p.clock,
    p.began, p.ended, e.first_value, e.last_value, e.first_place, e.last_place, 0 AS change,
    0 AS keep
  FROM polls p
  LEFT JOIN poll_ends e ON p.op = e.op AND p.topic = e.topic AND p.partition = e.partition
  UNION ALL
  SELECT 'send', op, completion, process, type, topic, partition, clock, began, ended,
    min_by(value, mop), max_by(value, mop), min_by(coalesce(place, -1), mop),
    max_by(coalesce(place, -1), mop), 0, 0
  FROM log_posted
  WHERE completion IS NOT NULL AND type <> 'fail'
  GROUP BY op, completion, process, type, topic, partition, clock, began, ended
),
changes AS (
  SELECT DISTINCT process, completion, topic, partition FROM assignments
  WHERE f IN ('assign', 'subscribe') AND type <> 'fail' AND completion IS NOT NULL
),
timeline AS (
  SELECT * FROM turns
  UNION ALL
  SELECT 'assign', NULL, completion, process, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, 1, 0
  FROM (SELECT DISTINCT process, completion FROM changes) changed
  UNION ALL
  SELECT 'assign', NULL, completion, process, NULL, topic, partition, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, 0, 1
  FROM changes WHERE topic IS NOT NULL
),
counted AS (
  SELECT *,
    sum(change) OVER (PARTITION BY process ORDER BY completion
      RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS changes,
    sum(keep) OVER (PARTITION BY process, topic, partition ORDER BY completion
      RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS keeps
  FROM timeline
)
SELECT way, op, completion, process, type, topic, partition, clock, began, ended, changes, keeps,
  first_value, nullif(first_place, -1) AS first_place, last_value,
  nullif(last_place, -1) AS last_place
FROM counted
WHERE way <> 'assign'
