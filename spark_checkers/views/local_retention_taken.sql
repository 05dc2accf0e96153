-- Each tiered log at a look whose disk does not hold all of it: the latest timestamp of the records that
-- are remote only, how old that is at most, and how many bytes at most the records have that are local, or
-- may be. A time that is not set is that of the whole log, or its broker's. Of topics that were created with
-- a local retention of their own and not configured again.
WITH asked AS (
  SELECT c.topic, c.retention_ms, c.retention_bytes,
    TRY_CAST(nullif(regexp_extract(o.value, '"local[.]retention[.]ms":"(-?[0-9]+)"', 1), '') AS BIGINT) AS ms,
    TRY_CAST(nullif(regexp_extract(o.value, '"local[.]retention[.]bytes":"(-?[0-9]+)"', 1), '') AS BIGINT)
      AS bytes
  FROM topic_configs c
  JOIN ops o ON c.topic = o.topic
  WHERE o.f = 'create_topics' AND o.type = 'ok' AND o.value LIKE '%"local.retention.%'
    AND NOT EXISTS (
      SELECT 1 FROM ops again
      WHERE again.f = 'configure_tier' AND again.type <> 'fail' AND again.topic = c.topic
    )
),
looked AS (
  SELECT l.probe AS op, l.topic, l.partition, l.clock, l.happened, l.log_start, l.local_start,
    w.now_ms + CAST(floor((l.time - w.time) / 1000000) AS BIGINT) AS now_ms,
    CASE WHEN coalesce(a.ms, -2) <> -2 THEN a.ms WHEN a.retention_ms < 0 THEN 604800000
      ELSE least(a.retention_ms, 604800000) END AS local_ms,
    nullif(CASE WHEN coalesce(a.bytes, -2) = -2 THEN a.retention_bytes ELSE a.bytes END, -1) AS local_bytes
  FROM remote_logs l
  JOIN asked a ON l.topic = a.topic
  LEFT JOIN wall_clocks w ON l.clock = w.clock
  WHERE l.tiered AND l.local_start > l.log_start
)
SELECT l.op, l.topic, l.partition, l.clock, min(least(l.happened, r.began)) AS began, l.happened AS ended,
  l.log_start, l.local_start, l.local_ms, l.local_bytes,
  l.now_ms - max(CASE WHEN r.record_offset >= l.log_start AND r.record_offset < l.local_start
    THEN r.timestamp END) AS age_ms,
  sum(CASE WHEN r.type <> 'fail' AND r.began < l.happened AND coalesce(r.record_offset >= l.local_start, TRUE)
    THEN length(r.value) + coalesce(length(r.record_key), 0) + 120 ELSE 0 END) AS bytes_left
FROM looked l
JOIN records_sent r ON l.topic = r.topic AND l.partition = r.partition AND l.clock = r.clock
GROUP BY l.op, l.topic, l.partition, l.clock, l.happened, l.log_start, l.local_start, l.now_ms, l.local_ms,
  l.local_bytes
