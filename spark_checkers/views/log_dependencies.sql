-- Each dependency between two transactions, once for every value it rests on: the target polled the
-- value that the source sent (`wr`), or the target sent `next_value`, which stands right behind the
-- value that the source sent (`ww`). Transactions by their vertex.
-- computed once
SELECT 'wr' AS kind, writer AS source, completion AS target, topic, partition, value,
  CAST(NULL AS STRING) AS next_value
FROM log_polled
WHERE writer IS NOT NULL AND writer <> completion
UNION ALL
SELECT 'ww', b.writer, v.writer, v.topic, v.partition, b.value, v.value
FROM log_values v
JOIN log_order o ON o.chosen AND o.topic = v.topic AND o.partition = v.partition
  AND o.place = v.place - 1
JOIN log_values b ON b.topic = o.topic AND b.partition = o.partition AND b.value = o.value
WHERE v.writer <> b.writer
