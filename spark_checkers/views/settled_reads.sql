-- Each log, and how many of the records read from it were exactly those acknowledged at their offsets.
-- computed once
SELECT topic, partition, sum(seen) AS times
FROM (
  SELECT topic, partition, seen FROM part_reads
  UNION ALL
  SELECT topic, partition, -count(*) FROM unsettled_reads GROUP BY topic, partition
) counted
GROUP BY topic, partition
HAVING sum(seen) > 0
