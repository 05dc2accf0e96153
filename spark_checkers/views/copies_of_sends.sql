-- Each send whose place nobody was told, or that was read elsewhere, with where its records were read;
-- and for each log one row that stands for the records that are where they were acknowledged.
SELECT op, topic, partition, base_offset, last_base, offsets, positions, producer_id, attempts, clock,
  began, read_until AS ended, 1 AS times, FALSE AS settled
FROM part_observed
UNION ALL
SELECT op, topic, partition, base_offset, last_base, offsets, positions, producer_id, attempts, clock,
  began, read_until, 1, FALSE
FROM sends_read_elsewhere
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, times, TRUE
FROM settled_reads
