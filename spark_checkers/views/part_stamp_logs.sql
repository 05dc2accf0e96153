-- Each log in which somebody searched by timestamp (-3 asks for the greatest), by his kind
-- (`committed`) and by clock (`log` is all of these), from the greatest log start shown on.
-- `transacts`: somebody sent to it in a transaction.
-- computed once
SELECT DISTINCT a.topic, a.partition, s.clock, s.log_start, t.topic IS NOT NULL AS transacts,
  coalesce(a.isolation, 'unknown') <> 'read_uncommitted' AS committed,
  fingerprint(a.topic, a.partition,
    CAST(coalesce(a.isolation, 'unknown') <> 'read_uncommitted' AS BIGINT), s.clock, '', 0) AS log
FROM offsets_listed a
JOIN part_starts s ON a.topic = s.topic AND a.partition = s.partition AND a.clock = s.clock
LEFT JOIN (SELECT DISTINCT topic, partition FROM sends WHERE transaction IS NOT NULL) t
  ON a.topic = t.topic AND a.partition = t.partition
WHERE a.type = 'ok' AND (a.asked_timestamp >= 0 OR a.asked_timestamp = -3)
