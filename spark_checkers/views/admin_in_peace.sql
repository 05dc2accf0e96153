-- Each request about topics, replicas or leaders during which no fault was in force.
SELECT a.op, a.clock, a.topic, a.partition, a.f, a.node, a.type, a.error, a.began, a.answered AS ended
FROM admin_ops a
WHERE a.answered IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM fault_windows w
  WHERE w.clock = a.clock AND w.fault <> 'assumption-suspended' AND w.since <= a.answered
    AND coalesce(w.until, 9223372036854775807) >= a.began)
