-- Each append whose place in the log is known: acknowledged by all in-sync replicas (a repeated batch is
-- the append it repeats), or read though nobody acknowledged it. The latter has no end: it was over at
-- some unknown time before it was read.
SELECT op, topic, partition, clock, began, ended, base_offset, base_offset + records - 1 AS last_offset,
  producer_id, producer_epoch, base_sequence
FROM sends s
WHERE type = 'ok' AND acks = -1 AND base_offset IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM repeated_batches r
  WHERE r.op = s.op AND r.topic = s.topic AND r.partition = s.partition
)
UNION ALL
SELECT op, topic, partition, clock, began, ended, base_offset, last_offset, producer_id,
  producer_epoch, base_sequence
FROM part_observed
WHERE offsets = positions AND base_offset = last_base
