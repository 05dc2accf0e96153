-- Each time during which a broker could not answer because of a fault. `clean`: it was stopped in good
-- order.
-- computed once
WITH known AS (SELECT DISTINCT clock, broker FROM brokers_told)
SELECT w.index AS op, w.clock, k.broker, w.fault = 'restart' AS clean, w.since,
  coalesce(w.until, 9223372036854775807) AS until
FROM fault_windows w
JOIN known k ON k.clock = w.clock
  AND ',' || w.target || ',' LIKE '%,broker-' || CAST(k.broker AS STRING) || ',%'
WHERE w.fault IN ('kill', 'restart', 'reimage', 'pause', 'lose-power')
