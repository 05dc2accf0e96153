-- Each stretch of time of a clock in which no assumption of a kind was broken, `after` and `before` not
-- included. `kind` is what rules rest on. A clock with no broken assumption has no stretch here: all of
-- it is one. Rules about two operations bind only those of one stretch, so operations of the same stretch
-- are compared among themselves.
-- computed once
WITH windows AS (
  SELECT clock, since, coalesce(until, 9223372036854775807) AS until, assumption,
    assumption IN ('clean-election', 'synced-data') AS durable
  FROM fault_windows WHERE assumption IS NOT NULL
),
kinds AS (
  SELECT 'durable' AS kind, clock, since, until, durable AS breaks FROM windows
  UNION ALL
  SELECT 'led', clock, since, until, durable OR assumption = 'one-leader' FROM windows
  UNION ALL
  SELECT 'running', clock, since, until, durable OR assumption = 'replica-up' FROM windows
  UNION ALL
  SELECT 'led and running', clock, since, until,
    durable OR assumption IN ('one-leader', 'replica-up') FROM windows
  UNION ALL
  SELECT 'led and kept', clock, since, until, durable OR assumption IN ('one-leader', 'log-kept')
  FROM windows
),
stretches AS (
  SELECT kind, clock, since AS before, max(until) OVER (PARTITION BY kind, clock ORDER BY since, until
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS after
  FROM kinds WHERE breaks
  UNION ALL
  SELECT kind, clock, 9223372036854775807, max(CASE WHEN breaks THEN until END)
  FROM kinds GROUP BY kind, clock
)
SELECT kind, clock, coalesce(after, -9223372036854775807) AS after, before
FROM stretches WHERE coalesce(after, -9223372036854775807) < before
