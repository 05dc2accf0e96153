-- Each call that no fault could have touched: none was in force between the beginning of the call
-- that the same node made before (a connection may have been cut since then) and the answer.
WITH calls AS (
  SELECT op, topic, partition, f, process, node, clock, began, type, error, answered,
    coalesce(lag(began) OVER (PARTITION BY clock, node ORDER BY began, op), began) AS since
  FROM boundary_ops WHERE f <> 'upgrade_schema'
)
SELECT c.op, c.topic, c.partition, c.f, c.process, c.began, c.answered AS ended, c.type, c.error
FROM calls c
WHERE NOT EXISTS (
  SELECT 1 FROM fault_windows w
  WHERE w.clock = c.clock AND w.since <= coalesce(c.answered, 9223372036854775807)
    AND coalesce(w.until, 9223372036854775807) >= c.since)
