-- Each unsettled read with each send of its value in its partition; `senders` counts them.
-- computed once
SELECT u.op, u.mop, u.position, u.topic, u.partition, r.op AS sent_op, r.position AS sent_position,
  r.record_key AS sent_key, r.timestamp AS sent_timestamp, r.record_offset AS acknowledged_offset,
  count(*) OVER (PARTITION BY u.op, u.mop, u.position, u.topic, u.partition) AS senders
FROM unsettled_reads u
JOIN records_sent r ON u.topic = r.topic AND u.partition = r.partition AND u.value = r.value
