-- Each phase in which all brokers that are up were asked about all partitions, with its last look.
-- `whole`: the lab looked five times at least, for the whole bound.
-- complete within the history
-- computed once
SELECT p.index AS op, p.clock, p.phase, p.since AS began, p.until AS ended, max(t.look) AS look,
  coalesce(p.until_ns - p.since_ns >= p.bound_ns AND p.looks >= 5, FALSE) AS whole,
  p.bound_ns / 1000000000 AS bound_s
FROM phases p
JOIN partitions_told t ON t.clock = p.clock AND t.began >= p.since AND t.began <= p.until
WHERE p.phase IN ('settle', 'look') AND p.until IS NOT NULL
GROUP BY p.index, p.clock, p.phase, p.since, p.until, p.until_ns, p.since_ns, p.bound_ns, p.looks
