-- Each unsettled read with the send of its value; of a value that was sent twice nobody can say which one
-- is read.
-- computed once
WITH sent AS (
  SELECT op, topic, partition, type, acks, attempts, producer_id, producer_epoch, base_sequence,
    transaction, clock, began, ended
  FROM sends s WHERE EXISTS (SELECT 1 FROM unsettled_reads_by_send m WHERE m.sent_op = s.op)
)
SELECT u.*, coalesce(m.senders, 0) AS senders, m.sent_op, m.sent_position, m.sent_key,
  m.sent_timestamp, m.acknowledged_offset, s.type AS sent_type, s.acks, s.attempts, s.producer_id,
  s.producer_epoch, s.base_sequence, s.transaction, s.clock AS sent_clock, s.began AS sent_began,
  s.ended AS sent_ended
FROM unsettled_reads u
LEFT JOIN unsettled_reads_by_send m ON u.op = m.op AND u.mop = m.mop AND u.position = m.position
  AND u.topic = m.topic
  AND u.partition = m.partition
LEFT JOIN sent s ON m.sent_op = s.op AND m.topic = s.topic AND m.partition = s.partition
