-- Each answered call that no fault could have touched: none was in force between the beginning of
-- the call that the same node made before (a connection may have been cut since) and the answer.
WITH calls AS (
  SELECT op, topic, partition, f, process, node, clock, began, type, error, answered,
    coalesce(lag(began) OVER (PARTITION BY clock, node ORDER BY began, op), began) AS since
  FROM boundary_ops WHERE f <> 'upgrade_schema'
)
SELECT c.op, c.topic, c.partition, c.f, c.process, c.began, c.answered AS ended, c.type, c.error
FROM calls c
WHERE c.answered IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM fault_windows w
  WHERE w.clock = c.clock AND w.since <= c.answered
    AND coalesce(w.until, 9223372036854775807) >= c.since)
