-- The order of versions: each value that stood at an offset, by sends that certainly took effect and
-- by everything seen, whatever became of the operation that saw it. `place` counts offsets at which
-- something stands, from 0: gaps are legal. `held` is how many values claim the offset, `copies` at
-- how many offsets the value stands. Where several claim an offset one is `chosen` for orders that
-- need a single one: the value that stands nowhere else, then the least.
-- `op` is the first operation that showed the value there.
-- computed once
WITH cells AS (
  SELECT topic, partition, record_offset, value, op FROM records_seen
  WHERE f IN ('poll', 'txn') AND record_offset >= 0
  UNION ALL
  SELECT s.topic, s.partition, s.record_offset, s.value, s.op
  FROM records_sent s LEFT JOIN log_proven p ON s.op = p.op
  WHERE s.f IN ('send', 'txn') AND s.record_offset >= 0 AND (s.type = 'ok' OR p.op IS NOT NULL)
),
known AS (
  SELECT topic, partition, record_offset, value, min(op) AS op FROM cells
  GROUP BY topic, partition, record_offset, value
),
counted AS (
  SELECT topic, partition, record_offset, value, op,
    dense_rank() OVER (PARTITION BY topic, partition ORDER BY record_offset) - 1 AS place,
    count(*) OVER (PARTITION BY topic, partition, record_offset) AS held,
    count(*) OVER (PARTITION BY topic, partition, value) AS copies
  FROM known
)
SELECT topic, partition, record_offset, value, op, place, held, copies,
  row_number() OVER (PARTITION BY topic, partition, record_offset
    ORDER BY copies, value) = 1 AS chosen
FROM counted
