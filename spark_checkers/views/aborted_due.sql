-- Each batch of an aborted transaction that a reader of committed records was given, by the markers of the
-- log as its broker shows it last, and whether its transaction is listed as aborted beside it.
SELECT b.op, b.topic, b.partition, b.node, b.clock, b.began, f.ended, b.base_offset, b.producer_id,
  f.begins_at, f.fate, max(CASE WHEN l.first_offset = f.begins_at THEN 1 ELSE 0 END) = 1 AS listed
FROM log_batches b
JOIN batch_fates f ON b.topic = f.topic AND b.partition = f.partition AND b.node = f.node
  AND b.clock = f.clock AND b.base_offset = f.base_offset AND b.producer_id = f.producer_id
LEFT JOIN aborted_listed l ON b.op = l.op AND b.topic = l.topic AND b.partition = l.partition
  AND b.producer_id = l.producer_id
WHERE b.isolation = 'read_committed' AND f.fate = 'abort'
GROUP BY b.op, b.topic, b.partition, b.node, b.clock, b.began, f.ended, b.base_offset, b.producer_id,
  f.begins_at, f.fate
