-- Each answered call on a partition that nobody had begun to create, in a topic whose life the history
-- shows from the creation of another partition on: its name was new, so the partition was not there.
-- complete within the topic
WITH firsts AS (
  SELECT topic, f, type,
    row_number() OVER (PARTITION BY topic ORDER BY began, op) AS place
  FROM boundary_ops
),
clocks AS (
  SELECT topic, min(clock) = max(clock) AS one_clock FROM boundary_ops GROUP BY topic
),
created AS (
  SELECT topic, partition, min(began) AS since FROM boundary_ops
  WHERE f IN ('create_log', 'upgrade_schema') GROUP BY topic, partition
)
SELECT o.op, o.topic, o.partition, o.f, o.process, o.began, o.ended, o.type, o.error,
  o.entries, o.stored_boundary, o.stored_epoch, o.stored_reset_epoch
FROM boundary_ops o
JOIN firsts s ON o.topic = s.topic AND s.place = 1 AND s.f = 'create_log' AND s.type = 'ok'
JOIN clocks k ON o.topic = k.topic AND k.one_clock
LEFT JOIN created c ON o.topic = c.topic AND o.partition = c.partition
WHERE o.type <> 'info' AND (c.since IS NULL OR o.ended < c.since)
