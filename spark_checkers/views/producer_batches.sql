-- Each batch of a producer, markers among them, in an answer that shows all kinds of records, with the
-- batch of its producer before it in the same answer (`before_*`) and the last one of records
-- (`data_epoch`, `data_sequence`).
-- computed once
WITH batches AS (
  SELECT op, topic, partition, node, clock, began, answered AS ended, base_offset, last_offset,
    producer_id, producer_epoch, base_sequence, transactional, marker, coordinator_epoch,
    log_start_offset, asked_offset,
    base_sequence + last_offset - base_offset AS last_sequence,
    lag(producer_epoch) OVER one AS before_epoch, lag(marker) OVER one AS before_marker,
    lag(base_offset) OVER one AS before_offset,
    max(CASE WHEN marker IS NULL THEN base_offset END) OVER earlier AS data_offset
  FROM log_batches
  WHERE isolation = 'read_uncommitted' AND producer_id IS NOT NULL
  WINDOW one AS (PARTITION BY op, topic, partition, producer_id ORDER BY base_offset),
    earlier AS (PARTITION BY op, topic, partition, producer_id ORDER BY base_offset
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT b.op, b.topic, b.partition, b.node, b.clock, b.began, b.ended, b.base_offset, b.last_offset,
  b.producer_id, b.producer_epoch, b.base_sequence, b.last_sequence, b.transactional, b.marker,
  b.coordinator_epoch, b.before_epoch, b.before_marker, b.before_offset, b.data_offset,
  d.producer_epoch AS data_epoch, d.last_sequence AS data_sequence
FROM batches b
LEFT JOIN batches d ON b.op = d.op AND b.topic = d.topic AND b.partition = d.partition
  AND b.producer_id = d.producer_id AND b.data_offset = d.base_offset
