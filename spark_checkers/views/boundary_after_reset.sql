-- Each operation that began after a reset which certainly took effect, or came after one that had:
-- the boundary was proven set before that reset began. `reset_proven` is the highest epoch that must
-- have been in force at such a reset, `reset_told` the highest that was told. While no other reset
-- can have come first, the boundary is set up to this one, with whatever epoch was stored by then.
WITH timeline AS (
  SELECT topic, partition, op, ended AS moment, 1 AS turn, 'fact' AS kind,
    CASE WHEN resets_possible = 0 THEN greatest(coalesce(stored_epoch, -1), epoch_floor, 0)
      ELSE set_epoch END AS epoch_then,
    CASE WHEN resets_possible = 0 THEN greatest(coalesce(stored_epoch, -1), epoch_told, 0)
      ELSE set_told END AS told_then
  FROM boundary_known
  WHERE f = 'set_diskless_log_start_offset' AND boundary < 0 AND type = 'ok' AND set_proven >= 0
  UNION ALL
  SELECT topic, partition, op, began, 0, 'before', CAST(NULL AS BIGINT), CAST(NULL AS BIGINT)
  FROM boundary_known
),
running AS (
  SELECT topic, partition, op, kind,
    max(epoch_then) OVER past AS reset_proven, max(told_then) OVER past AS reset_told
  FROM timeline
  WINDOW past AS (PARTITION BY topic, partition ORDER BY moment, turn, op, kind
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
SELECT o.*, r.reset_proven, r.reset_told
FROM boundary_known o
JOIN running r ON o.topic = r.topic AND o.partition = r.partition AND o.op = r.op
WHERE r.kind = 'before' AND r.reset_proven IS NOT NULL
