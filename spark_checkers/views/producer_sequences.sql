-- Each append with the one before it by its producer's sequence numbers. A row spans both.
WITH neighbours AS (
  SELECT op, topic, partition, clock, base_offset, producer_id, base_sequence, began,
    coalesce(ended, 9223372036854775807) AS ended,
    lag(op) OVER of_producer AS earlier_op, lag(base_offset) OVER of_producer AS earlier_offset,
    lag(base_sequence) OVER of_producer AS earlier_sequence,
    lag(base_sequence + last_offset - base_offset) OVER of_producer AS earlier_last_sequence,
    lag(began) OVER of_producer AS earlier_began,
    lag(coalesce(ended, 9223372036854775807)) OVER of_producer AS earlier_ended
  FROM (
    SELECT *, fingerprint(topic, partition, 0, '', '', 0) AS log FROM part_appends
    WHERE producer_id IS NOT NULL
  ) appends
  WINDOW of_producer AS (PARTITION BY log, producer_id, producer_epoch
    ORDER BY base_sequence NULLS LAST, base_offset, op)
)
SELECT op, topic, partition, clock, base_offset, producer_id, base_sequence, earlier_op,
  earlier_offset, earlier_sequence, earlier_last_sequence,
  least(began, coalesce(earlier_began, began)) AS began,
  greatest(ended, coalesce(earlier_ended, ended)) AS ended
FROM neighbours
