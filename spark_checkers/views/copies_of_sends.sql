-- Each send whose place nobody was told, or that was read elsewhere, with where its records were read;
-- and for each log rows that stand for the records that are where they were acknowledged. `batched`: sends
-- of several records were acknowledged in that log.
SELECT op, topic, partition, base_offset, last_base, offsets, positions, producer_id, attempts, clock,
  began, read_until AS ended, 1 AS times, FALSE AS settled, positions > 1 AS batched
FROM part_observed
UNION ALL
SELECT op, topic, partition, base_offset, last_base, offsets, positions, producer_id, attempts, clock,
  began, read_until, 1, FALSE, positions > 1
FROM sends_read_elsewhere
UNION ALL
SELECT NULL, r.topic, r.partition, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, r.times, TRUE,
  b.topic IS NOT NULL
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
