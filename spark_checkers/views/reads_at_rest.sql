-- Each read of an offset in a phase in which logs are read at rest, no fault in force, with the read
-- of the same offset before it in that phase (`other_op`).
WITH compared AS (
  SELECT s.op, s.topic, s.partition, s.record_offset, s.value, s.leader_epoch, s.node, s.clock,
    s.began, s.answered AS ended, lag(s.op) OVER earlier AS other_op,
    lag(s.value) OVER earlier AS other_value, lag(s.leader_epoch) OVER earlier AS other_epoch,
    lag(s.node) OVER earlier AS other_node
  FROM phases p
  JOIN records_seen s ON s.clock = p.clock AND s.began >= p.since AND s.answered <= p.until
  WHERE p.phase = 'reads-at-rest' AND NOT EXISTS (
    SELECT 1 FROM fault_windows w
    WHERE w.clock = p.clock AND w.fault <> 'assumption-suspended' AND w.since <= p.until
      AND coalesce(w.until, 9223372036854775807) >= p.since)
  WINDOW earlier AS (PARTITION BY p.index, s.topic, s.partition, s.record_offset
    ORDER BY s.began, s.op, s.mop, s.position)
)
SELECT * FROM compared WHERE other_op IS NOT NULL
