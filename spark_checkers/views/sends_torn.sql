-- Each send whose place nobody was told and of which an answer shows one record, not the last, with
-- another than the next one right behind it, at `torn_at`.
-- computed once
SELECT t.sent_op AS op, t.topic, t.partition, min(n.record_offset) AS torn_at
FROM unsettled_reads_traced t
JOIN records_sent x ON t.sent_op = x.op AND t.topic = x.topic AND t.partition = x.partition
  AND t.sent_position + 1 = x.position
JOIN records_seen n ON t.op = n.op AND t.topic = n.topic AND t.partition = n.partition
  AND t.record_offset + 1 = n.record_offset
WHERE t.senders = 1 AND t.sent_type <> 'fail' AND t.acknowledged_offset IS NULL
  AND n.value IS DISTINCT FROM x.value
GROUP BY t.sent_op, t.topic, t.partition
