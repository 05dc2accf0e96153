-- Each read of an offset at which some read is unsettled, with the read of the same offset before it
-- (`other_op`). A part that one of them does not tell is not compared. One row for each log stands for
-- its settled reads.
WITH reads AS (
  SELECT s.op, s.mop, s.position, s.topic, s.partition, s.record_offset, s.value, s.record_key,
    s.timestamp, s.clock, s.began, s.answered
  FROM records_seen s
  JOIN (SELECT DISTINCT topic, partition, record_offset FROM unsettled_reads) o
    ON s.topic = o.topic AND s.partition = o.partition AND s.record_offset = o.record_offset
),
compared AS (
  SELECT *, lag(op) OVER earlier AS other_op, lag(value) OVER earlier AS other_value,
    lag(record_key) OVER earlier AS other_key, lag(timestamp) OVER earlier AS other_timestamp,
    lag(began) OVER earlier AS other_began, lag(answered) OVER earlier AS other_answered
  FROM reads
  WINDOW earlier AS (PARTITION BY topic, partition, record_offset
    ORDER BY clock, began, op, mop, position)
)
SELECT op, topic, partition, record_offset, value, clock, least(began, other_began) AS began,
  greatest(answered, other_answered) AS ended, 1 AS times, other_op, other_value,
  value IS NOT DISTINCT FROM other_value AND coalesce(record_key = other_key, TRUE)
    AND coalesce(timestamp = other_timestamp, TRUE) AS agreed
FROM compared WHERE other_op IS NOT NULL
UNION ALL
SELECT NULL, topic, partition, NULL, NULL, NULL, NULL, NULL, times, NULL, NULL, TRUE
FROM settled_reads
