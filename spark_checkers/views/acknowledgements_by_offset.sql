-- Each offset that was acknowledged to an append and, as the one before it in time, to another
-- (`other_op`); and for each log one row that stands for the appends that come after another. An append
-- that not all in-sync replicas acknowledged may be lost, and counts if it was read at its offset.
WITH acknowledged AS (
  SELECT h.op, h.topic, h.partition, h.record_offset, h.acks, h.clock, h.began, h.ended,
    max(u.answered) AS read_at
  FROM records_sent h
  JOIN offsets_acknowledged_twice t ON h.topic = t.topic AND h.partition = t.partition
    AND h.record_offset = t.record_offset
  LEFT JOIN unsettled_reads u ON h.acks <> -1 AND h.topic = u.topic AND h.partition = u.partition
    AND h.record_offset = u.record_offset AND h.value = u.value
  WHERE h.type = 'ok' AND h.acks IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM repeated_batches r
    WHERE r.op = h.op AND r.topic = h.topic AND r.partition = h.partition
  )
  GROUP BY h.op, h.topic, h.partition, h.record_offset, h.acks, h.clock, h.began, h.ended
),
compared AS (
  SELECT op, topic, partition, record_offset, clock, began,
    greatest(ended, coalesce(read_at, ended)) AS ended,
    lag(op) OVER earlier AS other_op, lag(began) OVER earlier AS other_began,
    lag(greatest(ended, coalesce(read_at, ended))) OVER earlier AS other_ended
  FROM acknowledged WHERE acks = -1 OR read_at IS NOT NULL
  WINDOW earlier AS (PARTITION BY topic, partition, record_offset ORDER BY clock, began, op)
)
SELECT op, topic, partition, record_offset, other_op, 1 AS times, FALSE AS once, clock,
  least(began, other_began) AS began, greatest(ended, other_ended) AS ended
FROM compared WHERE other_op IS NOT NULL
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, count(*) - 1, TRUE, NULL, NULL, NULL
FROM sends WHERE type = 'ok' AND acks = -1 AND base_offset IS NOT NULL
GROUP BY topic, partition HAVING count(*) > 1
