-- Each stretch of 1024 ms in which somebody searched by timestamp, by log, kind of reader and clock
-- (`log`), and the number of the stretch.
-- computed once
SELECT DISTINCT fingerprint(topic, partition,
    CAST(coalesce(isolation, 'unknown') <> 'read_uncommitted' AS BIGINT), clock, '', 0) AS log,
  CASE WHEN asked_timestamp = -3 THEN found_timestamp ELSE asked_timestamp END >> 10 AS stretch
FROM offsets_listed WHERE type = 'ok' AND (asked_timestamp >= 0 OR asked_timestamp = -3)
