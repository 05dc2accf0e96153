-- Each sequence number of a producer that is known to stand in a log, with the one before it: sends by
-- where they were acknowledged, records by where they were read if nobody acknowledged them there. A
-- row spans both. `forgotten`: the one at the lower offset may have been deleted before the other was
-- shown. With its last batch a log may forget a producer, and then takes any sequence number of it.
WITH placed AS (
  SELECT op, topic, partition, clock, began, ended, base_offset, producer_id, producer_epoch,
    base_sequence, base_sequence + records - 1 AS last_sequence, base_offset + records - 1 AS last_offset,
    ended AS shown, clock AS shown_clock
  FROM sends
  WHERE type = 'ok' AND acks = -1 AND base_offset IS NOT NULL AND producer_id IS NOT NULL
    AND base_sequence IS NOT NULL
  UNION ALL
  SELECT sent_op, topic, partition, min(sent_clock), min(sent_began), min(answered), record_offset,
    producer_id, producer_epoch, base_sequence + sent_position, base_sequence + sent_position,
    record_offset, min(answered), CASE WHEN min(clock) = max(clock) THEN min(clock) END
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
    lag(last_offset) OVER of_producer AS earlier_last_offset,
    lag(shown) OVER of_producer AS earlier_shown, lag(shown_clock) OVER of_producer AS earlier_clock,
    lag(began) OVER of_producer AS earlier_began, lag(ended) OVER of_producer AS earlier_ended
  FROM (SELECT *, fingerprint(topic, partition, 0, '', '', 0) AS log FROM placed) logs
  WINDOW of_producer AS (PARTITION BY log, producer_id, producer_epoch
    ORDER BY base_sequence, base_offset, op)
),
out_of_order AS (
  SELECT topic, partition, op, base_offset, base_sequence,
    CASE WHEN base_offset > earlier_offset THEN earlier_last_offset ELSE last_offset END AS lower_last,
    CASE WHEN base_offset > earlier_offset THEN shown ELSE earlier_shown END AS shown,
    CASE WHEN base_offset > earlier_offset THEN shown_clock ELSE earlier_clock END AS clock
  FROM neighbours
  WHERE base_offset <> earlier_offset
    AND (base_offset < earlier_offset OR base_sequence <= earlier_last_sequence)
),
forgotten AS (
  SELECT DISTINCT o.topic, o.partition, o.op, o.base_offset, o.base_sequence
  FROM out_of_order o
  JOIN log_starts_possible s ON o.topic = s.topic AND o.partition = s.partition
    AND s.log_start > o.lower_last
    AND (s.since IS NULL OR o.clock IS NULL OR s.clock <> o.clock OR s.since < o.shown)
)
SELECT n.op, n.topic, n.partition, n.clock, n.base_offset, n.producer_id, n.base_sequence,
  n.earlier_op, n.earlier_offset, n.earlier_sequence, n.earlier_last_sequence,
  f.op IS NOT NULL AS forgotten, least(n.began, coalesce(n.earlier_began, n.began)) AS began,
  greatest(n.ended, coalesce(n.earlier_ended, n.ended)) AS ended
FROM neighbours n
LEFT JOIN forgotten f ON n.op = f.op AND n.topic = f.topic AND n.partition = f.partition
  AND n.base_offset = f.base_offset AND n.base_sequence = f.base_sequence
