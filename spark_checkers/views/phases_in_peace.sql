-- Each phase with a bound that has ended and during which no fault was in force; `lasted_ns`: how long
-- it took. That an assumption is suspended is no fault.
-- computed once
SELECT p.index, p.campaign, p.phase, p.clock, p.since, p.until, p.bound_ns,
  p.until_ns - p.since_ns AS lasted_ns
FROM phases p
WHERE p.bound_ns IS NOT NULL AND p.until IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM fault_windows w
  WHERE w.clock = p.clock AND w.fault <> 'assumption-suspended' AND w.since <= p.until
    AND coalesce(w.until, 9223372036854775807) >= p.since)
