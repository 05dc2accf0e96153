-- Each fetch that asked for an offset below the end it was told (the high watermark; the last stable
-- offset, unless it reads uncommitted), came back empty, and was neither one of several partitions in
-- its request (they share a byte limit) nor sent to another replica.
-- computed once
SELECT op, topic, partition, node, asked_offset, high_watermark, last_stable_offset, clock, began,
  answered, coalesce(isolation, 'unknown') <> 'read_uncommitted' AS committed
FROM responses
WHERE f = 'fetch' AND type = 'ok' AND records = 0 AND request IS NULL
  AND coalesce(preferred_read_replica, -1) < 0 AND asked_offset >= coalesce(log_start_offset, 0)
  AND asked_offset < CASE WHEN isolation = 'read_uncommitted' THEN high_watermark
    ELSE least(high_watermark, coalesce(last_stable_offset, high_watermark)) END
