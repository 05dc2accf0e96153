-- Each send whose place nobody was told, or that was read elsewhere, with where its records were read;
-- and for each log rows that stand for the records that are where they were acknowledged. `batched`: sends
-- of several records were acknowledged in that log. `torn_at`: as in sends_torn.
SELECT p.op, p.topic, p.partition, p.base_offset, p.last_base, p.offsets, p.positions, p.producer_id,
  p.attempts, p.clock, p.began, p.read_until AS ended, 1 AS times, FALSE AS settled,
  p.positions > 1 AS batched, t.torn_at
FROM part_observed p
LEFT JOIN sends_torn t ON p.op = t.op AND p.topic = t.topic AND p.partition = t.partition
UNION ALL
SELECT op, topic, partition, base_offset, last_base, offsets, positions, producer_id, attempts, clock,
  began, read_until, 1, FALSE, positions > 1, NULL
FROM sends_read_elsewhere
UNION ALL
SELECT NULL, r.topic, r.partition, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, r.times, TRUE,
  b.topic IS NOT NULL, NULL
FROM (
  SELECT topic, partition, times FROM settled_reads
  UNION ALL
  SELECT topic, partition, count(*) FROM unsettled_reads_traced
  WHERE senders = 1 AND acknowledged_offset = record_offset
  GROUP BY topic, partition
) r
LEFT JOIN (
  SELECT DISTINCT topic, partition FROM sends WHERE type = 'ok' AND base_offset >= 0 AND records > 1
) b ON r.topic = b.topic AND r.partition = b.partition
