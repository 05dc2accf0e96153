-- Each unsettled read with the send of its value; and for each log one row that stands for its settled
-- reads. `first_offset` is where the appends of this history begin, by acknowledgements or by what was
-- read of them: what is below may be older.
-- `unplaced`: of some sends to the topic nobody knows the partition. `forgotten`: of the offset read and
-- the one acknowledged, the lower may have been deleted before the record was shown at the higher.
-- complete within the partition: sends whose partition is not known are in every shard
SELECT u.op, u.topic, u.partition, u.record_offset, u.value, u.record_key, u.timestamp, u.clock,
  least(u.began, coalesce(u.sent_began, u.began)) AS began,
  greatest(u.answered, coalesce(u.sent_ended, u.answered)) AS ended, 1 AS times, FALSE AS settled,
  f.first_offset, n.topic IS NOT NULL AS unplaced, u.senders, u.sent_op, u.sent_key, u.sent_timestamp,
  u.acknowledged_offset, u.producer_id, u.attempts,
  coalesce(c.start_before > least(u.record_offset, u.acknowledged_offset), FALSE) AS forgotten
FROM unsettled_reads_traced u
LEFT JOIN (
  SELECT topic, partition, min(first_offset) AS first_offset
  FROM (
    SELECT topic, partition, base_offset AS first_offset FROM sends
    WHERE type = 'ok' AND acks = -1 AND base_offset IS NOT NULL
    UNION ALL
    SELECT topic, partition, record_offset FROM unsettled_reads_traced WHERE senders = 1
  ) appended
  GROUP BY topic, partition
) f ON u.topic = f.topic AND u.partition = f.partition
LEFT JOIN (SELECT DISTINCT topic FROM records_sent WHERE partition IS NULL) n ON u.topic = n.topic
LEFT JOIN copies_of_repeated_records c ON u.sent_op = c.sent_op AND u.topic = c.topic
  AND u.partition = c.partition AND u.sent_position = c.sent_position
  AND greatest(u.record_offset, u.acknowledged_offset) = c.record_offset
  AND u.acknowledged_offset <> u.record_offset
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, NULL, NULL, NULL, NULL, NULL, times, TRUE, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM settled_reads
