-- Each acknowledged send that is no append of its own: it names the producer, epoch and sequence numbers
-- of an earlier send and was answered with the offset of that one, as Kafka answers a repeated batch.
-- computed once
SELECT op, topic, partition
FROM (
  SELECT s.op, s.topic, s.partition, row_number() OVER (PARTITION BY s.topic, s.partition,
    s.base_offset, s.producer_id, s.producer_epoch, s.base_sequence, s.records ORDER BY s.op) AS nth
  FROM sends s
  JOIN offsets_acknowledged_twice t ON s.topic = t.topic AND s.partition = t.partition
    AND s.base_offset = t.record_offset
  WHERE s.type = 'ok' AND s.acks = -1 AND s.producer_id IS NOT NULL AND s.base_sequence IS NOT NULL
) batches
WHERE nth > 1
