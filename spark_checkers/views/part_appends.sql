-- Each append whose place in the log is known: acknowledged by all in-sync replicas (a repeated batch is
-- the append it repeats), or read where its leader alone acknowledged it, or read though nobody
-- acknowledged it. The latter two have no end: they were over at some unknown time before they were
-- read.
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
UNION ALL
SELECT s.op, s.topic, s.partition, s.clock, s.began, NULL, s.base_offset, s.base_offset + s.records - 1,
  s.producer_id, s.producer_epoch, s.base_sequence
FROM sends s
JOIN leader_acks_read r ON s.op = r.op AND s.topic = r.topic AND s.partition = r.partition
