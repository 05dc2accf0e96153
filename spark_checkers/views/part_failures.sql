-- Each record of a send that definitely failed, in a log that was read, and who read it nevertheless.
SELECT r.op, r.topic, r.partition, r.value, r.clock, r.began, r.ended, s.read_op, s.record_offset
FROM records_sent r
JOIN (SELECT DISTINCT topic, partition FROM part_reads) read
  ON r.topic = read.topic AND r.partition = read.partition
LEFT JOIN (
  SELECT topic, partition, sent_op, sent_position, min(op) AS read_op,
    min(record_offset) AS record_offset
  FROM unsettled_reads_traced WHERE sent_type = 'fail' AND senders = 1
  GROUP BY topic, partition, sent_op, sent_position
) s ON r.topic = s.topic AND r.partition = s.partition AND r.op = s.sent_op
  AND r.position = s.sent_position
WHERE r.type = 'fail'
