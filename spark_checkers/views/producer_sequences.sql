-- Each sequence number of a producer that is known to stand in a log, with the one before it: sends by
-- where they were acknowledged, records by where they were read if nobody acknowledged them there. A
-- row spans both.
WITH placed AS (
  SELECT op, topic, partition, clock, began, ended, base_offset, producer_id, producer_epoch,
    base_sequence, base_sequence + records - 1 AS last_sequence
  FROM sends
  WHERE type = 'ok' AND acks = -1 AND base_offset IS NOT NULL AND producer_id IS NOT NULL
    AND base_sequence IS NOT NULL
  UNION ALL
  SELECT sent_op, topic, partition, min(sent_clock), min(sent_began), min(answered), record_offset,
    producer_id, producer_epoch, base_sequence + sent_position, base_sequence + sent_position
  FROM unsettled_reads_traced
  WHERE senders = 1 AND sent_type <> 'fail' AND producer_id IS NOT NULL AND base_sequence IS NOT NULL
    AND (acknowledged_offset IS NULL OR acks <> -1 OR acknowledged_offset <> record_offset)
  GROUP BY sent_op, topic, partition, record_offset, producer_id, producer_epoch, base_sequence,
    sent_position
),
neighbours AS (
  SELECT *, lag(op) OVER of_producer AS earlier_op, lag(base_offset) OVER of_producer AS earlier_offset,
    lag(base_sequence) OVER of_producer AS earlier_sequence,
    lag(last_sequence) OVER of_producer AS earlier_last_sequence,
    lag(began) OVER of_producer AS earlier_began, lag(ended) OVER of_producer AS earlier_ended
  FROM (SELECT *, fingerprint(topic, partition, 0, '', '', 0) AS log FROM placed) logs
  WINDOW of_producer AS (PARTITION BY log, producer_id, producer_epoch
    ORDER BY base_sequence, base_offset, op)
)
SELECT op, topic, partition, clock, base_offset, producer_id, base_sequence, earlier_op,
  earlier_offset, earlier_sequence, earlier_last_sequence,
  least(began, coalesce(earlier_began, began)) AS began,
  greatest(ended, coalesce(earlier_ended, ended)) AS ended
FROM neighbours
