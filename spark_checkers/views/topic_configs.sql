-- What the clients of a history asked for when they created a topic, where it is a number; and by
-- default what Kafka's brokers take. One row for each topic whose creation was acknowledged.
-- complete within the topic
-- computed once
SELECT topic, min(op) AS op,
  max(TRY_CAST(coalesce(nullif(regexp_extract(value, '"retention[.]ms":"(-?[0-9]+)"', 1), ''), '604800000')
    AS BIGINT)) AS retention_ms,
  max(TRY_CAST(nullif(regexp_extract(value, '"retention[.]bytes":"([0-9]+)"', 1), '') AS BIGINT))
    AS retention_bytes,
  max(TRY_CAST(coalesce(nullif(regexp_extract(value, '"segment[.]ms":"([0-9]+)"', 1), ''), '604800000')
    AS BIGINT)) AS segment_ms,
  max(TRY_CAST(coalesce(nullif(regexp_extract(value, '"segment[.]bytes":"([0-9]+)"', 1), ''), '1073741824')
    AS BIGINT)) AS segment_bytes,
  max(TRY_CAST(coalesce(nullif(regexp_extract(value, '"index[.]interval[.]bytes":"([0-9]+)"', 1), ''), '4096')
    AS BIGINT)) AS index_interval_bytes,
  max(TRY_CAST(coalesce(nullif(regexp_extract(value, '"segment[.]index[.]bytes":"([0-9]+)"', 1), ''),
    '10485760') AS BIGINT)) AS segment_index_bytes
FROM ops
WHERE f = 'create_topics' AND type = 'ok' AND value IS NOT NULL AND topic IS NOT NULL
GROUP BY topic
