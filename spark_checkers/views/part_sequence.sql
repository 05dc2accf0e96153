-- Each append with the acknowledged one before it in the log, and with the one before it by its
-- producer's sequence numbers. A row spans all three.
WITH neighbours AS (
  SELECT op, topic, partition, clock, base_offset, last_offset, acknowledged, producer_id,
    producer_epoch, base_sequence, began, coalesce(ended, 9223372036854775807) AS ended,
    lag(CASE WHEN acknowledged THEN last_offset END) OVER log AS taken_to,
    lag(op) OVER log AS taken_op,
    lag(producer_id) OVER log AS taken_by, lag(producer_epoch) OVER log AS taken_epoch,
    lag(base_sequence) OVER log AS taken_sequence, lag(began) OVER log AS log_began,
    lag(coalesce(ended, 9223372036854775807)) OVER log AS log_ended,
    lag(op) OVER producer AS earlier_op, lag(base_offset) OVER producer AS earlier_offset,
    lag(base_sequence) OVER producer AS earlier_sequence,
    lag(base_sequence + last_offset - base_offset) OVER producer AS earlier_last_sequence,
    lag(began) OVER producer AS earlier_began,
    lag(coalesce(ended, 9223372036854775807)) OVER producer AS earlier_ended
  FROM part_appends
  WINDOW log AS (PARTITION BY topic, partition ORDER BY base_offset, op),
    producer AS (PARTITION BY topic, partition, producer_id, producer_epoch
      ORDER BY base_sequence NULLS LAST, base_offset, op)
)
SELECT op, topic, partition, clock, base_offset, last_offset, acknowledged, producer_id,
  base_sequence, taken_to, taken_op, earlier_op, earlier_offset, earlier_sequence, earlier_last_sequence,
  coalesce(producer_id = taken_by AND producer_epoch = taken_epoch
    AND base_sequence = taken_sequence, FALSE) AS same_batch,
  least(began, coalesce(log_began, began), coalesce(earlier_began, began)) AS began,
  greatest(ended, coalesce(log_ended, ended), coalesce(earlier_ended, ended)) AS ended
FROM neighbours
