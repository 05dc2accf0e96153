-- Each answered call that lay wholly inside a time when the control plane was refused, disturbed or
-- broken, and that no other fault could have touched.
SELECT o.op, o.topic, o.partition, o.f, o.process, o.began, o.answered AS ended, o.type, o.error,
  w.fault
FROM boundary_ops o
JOIN fault_windows w ON w.clock = o.clock AND w.since < o.began
  AND (w.until IS NULL OR o.answered < w.until)
WHERE o.error IS NOT NULL
  AND w.fault IN ('control-plane-refused', 'control-plane-disturbed', 'control-plane-broken')
  AND NOT EXISTS (
    SELECT 1 FROM fault_windows v
    WHERE v.clock = o.clock AND v.fault <> w.fault
      AND v.target IN (
        'control-plane',
        'client-' || coalesce(o.client, CAST(o.node AS STRING)),
        'client-' || coalesce(o.client, CAST(o.node AS STRING)) || ' → control-plane')
      AND v.since <= o.answered AND coalesce(v.until, 9223372036854775807) >= o.began)
