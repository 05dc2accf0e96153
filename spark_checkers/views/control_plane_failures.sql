-- Each answered call that lay wholly inside a time when the control plane was refused or broken.
SELECT o.op, o.topic, o.partition, o.f, o.process, o.began, o.answered AS ended, o.type, o.error,
  w.fault
FROM boundary_ops o
JOIN fault_windows w ON w.clock = o.clock AND w.since < o.began
  AND (w.until IS NULL OR o.answered < w.until)
WHERE o.error IS NOT NULL
  AND w.fault IN ('control-plane-refused', 'control-plane-broken')
