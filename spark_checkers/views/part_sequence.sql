-- Each append with the acknowledged one before it in the log, and with the one before it by its
-- producer's sequence numbers. A row spans all three.
WITH neighbours AS (
  SELECT op, topic, partition, clock, base_offset, last_offset, acknowledged, producer_id,
    producer_epoch, base_sequence, began, coalesce(ended, 9223372036854775807) AS ended,
    lag(CASE WHEN acknowledged THEN last_offset END) OVER in_log AS taken_to,
    lag(op) OVER in_log AS taken_op,
    lag(producer_id) OVER in_log AS taken_by, lag(producer_epoch) OVER in_log AS taken_epoch,
    lag(base_sequence) OVER in_log AS taken_sequence, lag(began) OVER in_log AS log_began,
    lag(coalesce(ended, 9223372036854775807)) OVER in_log AS log_ended,
    lag(op) OVER of_producer AS earlier_op, lag(base_offset) OVER of_producer AS earlier_offset,
    lag(base_sequence) OVER of_producer AS earlier_sequence,
    lag(base_sequence + last_offset - base_offset) OVER of_producer AS earlier_last_sequence,
    lag(began) OVER of_producer AS earlier_began,
    lag(coalesce(ended, 9223372036854775807)) OVER of_producer AS earlier_ended
  FROM (
    SELECT *, fingerprint(topic, partition, 0, '', '', 0) AS log FROM part_appends
  ) appends
  WINDOW in_log AS (PARTITION BY log ORDER BY base_offset, op),
    of_producer AS (PARTITION BY log, producer_id, producer_epoch
      ORDER BY base_sequence NULLS LAST, base_offset, op)
)
SELECT op, topic, partition, clock, base_offset, last_offset, acknowledged, producer_id,
  base_sequence, taken_to, taken_op, earlier_op, earlier_offset, earlier_sequence, earlier_last_sequence,
  coalesce(producer_id = taken_by AND producer_epoch = taken_epoch
    AND base_sequence = taken_sequence, FALSE) AS same_batch,
  least(began, coalesce(log_began, began), coalesce(earlier_began, began)) AS began,
  greatest(ended, coalesce(log_ended, ended), coalesce(earlier_ended, ended)) AS ended
FROM neighbours
