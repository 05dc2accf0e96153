-- Each log, and what the history shows of its beginning. A log is `born` here if the first thing
-- done to it, apart from calls that were refused because there was no such log, is its creation; it
-- is `upgraded` if it existed before the database had boundary columns.
-- computed once
WITH firsts AS (
  SELECT topic, partition, f, type,
    row_number() OVER (PARTITION BY topic, partition ORDER BY began, op) AS place
  FROM boundary_ops
  WHERE type <> 'fail' OR coalesce(error, '') <> 'UNKNOWN_TOPIC_OR_PARTITION'
)
SELECT topic, partition,
  min(clock) = max(clock) AS one_clock,
  max(CASE WHEN f = 'upgrade_schema' THEN 1 ELSE 0 END) > 0 AS upgraded,
  max(born) > 0 AS born
FROM (
  SELECT o.topic, o.partition, o.clock, o.f,
    CASE WHEN s.f = 'create_log' AND s.type <> 'fail' THEN 1 ELSE 0 END AS born
  FROM boundary_ops o
  LEFT JOIN firsts s ON o.topic = s.topic AND o.partition = s.partition AND s.place = 1
) seen
GROUP BY topic, partition
