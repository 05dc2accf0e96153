-- Each send whose place nobody was told, and where its records were read: `base_offset` and
-- `last_base` are the least and greatest offset of its first record that follow from what was read.
-- computed once
SELECT sent_op AS op, topic, partition, sent_clock AS clock, min(sent_began) AS began,
  CASE WHEN sent_type = 'ok' AND min(acks) = -1 THEN min(sent_ended) END AS ended,
  max(answered) AS read_until, min(record_offset - sent_position) AS base_offset,
  max(record_offset - sent_position) AS last_base, max(record_offset) AS last_offset,
  count(DISTINCT record_offset) AS offsets, count(DISTINCT sent_position) AS positions,
  min(producer_id) AS producer_id, min(producer_epoch) AS producer_epoch,
  min(base_sequence) AS base_sequence, min(attempts) AS attempts
FROM unsettled_reads_traced
WHERE senders = 1 AND sent_type <> 'fail' AND acknowledged_offset IS NULL
GROUP BY topic, partition, sent_op, sent_clock, sent_type
