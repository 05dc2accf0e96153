-- Each phase with a bound that has ended and during which one fault was in force, from beginning to end: `cut`,
-- a link between two brokers that is cut both ways.
SELECT p.index, p.phase, p.clock, p.since, p.until, p.bound_ns, p.until_ns - p.since_ns AS lasted_ns,
  min(w.target) AS cut
FROM phases p
JOIN fault_windows w ON w.clock = p.clock AND w.fault <> 'assumption-suspended' AND w.since <= p.until
  AND coalesce(w.until, 9223372036854775807) >= p.since
WHERE p.bound_ns IS NOT NULL AND p.until IS NOT NULL
GROUP BY p.index, p.phase, p.clock, p.since, p.until, p.until_ns, p.since_ns, p.bound_ns
HAVING count(*) = 1 AND min(w.fault) = 'cut' AND min(w.target) LIKE 'broker-% ↔ broker-%'
  AND max(w.since) < p.since AND min(coalesce(w.until, 9223372036854775807)) > p.until
