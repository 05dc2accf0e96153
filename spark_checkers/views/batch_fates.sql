-- Each batch of a transaction in the last whole read of its log by each broker: the first marker of its
-- producer behind it (`fate`, null if there is none), and where its transaction begins in this log:
-- behind the last marker of its producer before it.
-- computed once
WITH marks AS (
  SELECT w.chain AS op, b.topic, b.partition, w.node, b.clock, w.began, w.answered AS ended, w.reach,
    b.base_offset, b.last_offset, b.producer_id, b.producer_epoch, b.base_sequence, b.marker,
    b.transactional,
    min(CASE WHEN b.marker IS NOT NULL THEN b.base_offset END) OVER later AS decided_at,
    coalesce(max(CASE WHEN b.marker IS NOT NULL THEN b.base_offset END) OVER earlier, -1) AS after
  FROM logs_read_whole w
  JOIN log_batches b ON w.op = b.op AND w.topic = b.topic AND w.partition = b.partition
  WHERE b.producer_id IS NOT NULL
  WINDOW later AS (PARTITION BY w.chain, b.topic, b.partition, b.producer_id ORDER BY b.base_offset
      ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING),
    earlier AS (PARTITION BY w.chain, b.topic, b.partition, b.producer_id ORDER BY b.base_offset
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT d.op, d.topic, d.partition, d.node, d.clock, d.began, d.ended, d.reach, d.base_offset,
  d.last_offset, d.producer_id, d.producer_epoch, d.base_sequence, d.decided_at, m.marker AS fate,
  m.producer_epoch AS marker_epoch,
  min(d.base_offset) OVER (PARTITION BY d.op, d.topic, d.partition, d.producer_id, d.after)
    AS begins_at
FROM marks d
LEFT JOIN marks m ON d.op = m.op AND d.topic = m.topic AND d.partition = m.partition
  AND d.decided_at = m.base_offset
WHERE d.marker IS NULL AND d.transactional
