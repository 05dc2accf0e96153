-- Each answered call that no fault could have touched: none was in force between the beginning of
-- the call that the same node made before (a connection may have been cut since) and the answer.
-- The operations of one call over several partitions are one call.
-- complete within the history
WITH asked AS (
  SELECT *, coalesce(together, CAST(op AS STRING)) AS call
  FROM boundary_ops WHERE f <> 'upgrade_schema'
),
begun AS (
  SELECT clock, node, call, min(began) AS began, min(op) AS op FROM asked
  GROUP BY clock, node, call
),
before AS (
  SELECT clock, node, call,
    coalesce(lag(began) OVER (PARTITION BY clock, node ORDER BY began, op), began) AS since
  FROM begun
),
calls AS (
  SELECT a.op, a.topic, a.partition, a.f, a.process, a.clock, a.began, a.type, a.error, a.answered,
    b.since
  FROM asked a JOIN before b ON a.clock = b.clock AND a.call = b.call
)
SELECT c.op, c.topic, c.partition, c.f, c.process, c.began, c.answered AS ended, c.type, c.error
FROM calls c
WHERE c.answered IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM fault_windows w
  WHERE w.clock = c.clock AND w.since <= c.answered
    AND coalesce(w.until, 9223372036854775807) >= c.since)
