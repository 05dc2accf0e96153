-- Each operation that began after a reset that certainly took effect: the boundary was proven set
-- before the reset began, and no other reset could have come first. `reset_epoch` is the highest
-- epoch in force at such a reset.
WITH timeline AS (
  SELECT topic, partition, op, ended AS moment, 1 AS turn, 'fact' AS kind,
    greatest(coalesce(stored_epoch, -1), epoch_floor, 0) AS epoch_then
  FROM boundary_known
  WHERE f = 'set_diskless_log_start_offset' AND boundary < 0 AND type = 'ok'
    AND set_proven >= 0 AND resets_possible = 0
  UNION ALL
  SELECT topic, partition, op, began, 0, 'before', CAST(NULL AS BIGINT) FROM boundary_known
),
running AS (
  SELECT topic, partition, op, kind, max(epoch_then) OVER (
    PARTITION BY topic, partition ORDER BY moment, turn, op, kind
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reset_epoch
  FROM timeline
)
SELECT o.*, r.reset_epoch
FROM boundary_known o
JOIN running r ON o.topic = r.topic AND o.partition = r.partition AND o.op = r.op
WHERE r.kind = 'before' AND r.reset_epoch IS NOT NULL
