-- Each orphan with each send of its value in its partition; `senders` counts them.
-- computed once
SELECT o.op, o.position, o.topic, o.partition, r.op AS sent_op, r.position AS sent_position,
  r.record_key AS sent_key, r.timestamp AS sent_timestamp, r.record_offset AS acknowledged_offset,
  count(*) OVER (PARTITION BY o.op, o.position, o.topic, o.partition) AS senders
FROM part_orphans o
JOIN records_sent r ON o.topic = r.topic AND o.partition = r.partition AND o.value = r.value
