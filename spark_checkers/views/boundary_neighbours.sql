-- Each reply about a log that nobody can have set yet, while another partition of its topic was.
-- complete within the topic
WITH first_set AS (
  SELECT topic, partition, min(ended) AS since FROM boundary_ops
  WHERE type = 'ok' AND boundary >= 0
    AND f IN ('initialize_diskless_migration', 'set_diskless_log_start_offset')
  GROUP BY topic, partition
),
neighbours AS (
  SELECT topic, min(since) AS since FROM first_set GROUP BY topic
)
SELECT o.op, o.topic, o.partition, o.f, o.process, o.began, o.ended, o.stored_boundary,
  o.stored_epoch, o.epoch_ceiling
FROM boundary_known o
JOIN neighbours n ON o.topic = n.topic AND n.since < o.began
WHERE o.f NOT IN ('initialize_diskless_migration', 'set_diskless_log_start_offset')
  AND o.sets_possible = 0 AND o.born AND o.type <> 'info' AND o.stored_boundary IS NOT NULL
