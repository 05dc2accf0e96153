-- Each orphan with the send of its value (of a value that was sent twice nobody can say which one is
-- read), and with the append that holds its offset by an acknowledgement of all in-sync replicas.
-- computed once
WITH sent AS (
  SELECT op, topic, partition, type, acks, attempts, producer_id, producer_epoch, base_sequence,
    transaction, clock, began, ended
  FROM sends s WHERE EXISTS (SELECT 1 FROM part_matched m WHERE m.sent_op = s.op)
),
held AS (
  SELECT o.op, o.position, o.topic, o.partition, min(h.op) AS holder_op, min(h.value) AS holder_value,
    min(h.began) AS holder_began
  FROM part_orphans o
  JOIN records_sent h ON o.topic = h.topic AND o.partition = h.partition
    AND o.record_offset = h.record_offset
  WHERE h.type = 'ok' AND h.acks = -1
  GROUP BY o.op, o.position, o.topic, o.partition
)
SELECT o.*, coalesce(m.senders, 0) AS senders, m.sent_op, m.sent_position, m.sent_key,
  m.sent_timestamp, m.acknowledged_offset, s.type AS sent_type, s.acks, s.attempts, s.producer_id,
  s.producer_epoch, s.base_sequence, s.transaction, s.clock AS sent_clock, s.began AS sent_began,
  s.ended AS sent_ended, h.holder_op, h.holder_value, h.holder_began
FROM part_orphans o
LEFT JOIN part_matched m ON o.op = m.op AND o.position = m.position AND o.topic = m.topic
  AND o.partition = m.partition
LEFT JOIN sent s ON m.sent_op = s.op AND m.topic = s.topic AND m.partition = s.partition
LEFT JOIN held h ON o.op = h.op AND o.position = h.position AND o.topic = h.topic
  AND o.partition = h.partition
