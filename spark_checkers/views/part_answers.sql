-- Each answer that says how far a log reaches. `reach`: the log was committed at least up to here;
-- `high_told`, `stable_told`, `start_told`: the high watermark, last stable offset and log start that
-- the answer names (latest names the second unless it reads uncommitted); `epoch`: the leader epoch of
-- the replica that gave it, where that is known.
-- computed once
SELECT op, topic, partition, clock, node, f, began, answered, isolation, first_offset, last_offset,
  last_stable_offset, log_start_offset, asked_offset,
  coalesce(current_leader_epoch, CASE WHEN asked_timestamp = -1 THEN leader_epoch END) AS epoch,
  CASE WHEN f = 'fetch' THEN greatest(coalesce(high_watermark, last_stable_offset, -1),
      coalesce(last_offset + 1, -1))
    WHEN asked_timestamp = -1 THEN answered_offset
    WHEN f = 'produce' AND acks = -1 THEN answered_offset + 1 END AS reach,
  CASE WHEN f = 'fetch' THEN high_watermark
    WHEN asked_timestamp = -1 AND isolation = 'read_uncommitted' THEN answered_offset END AS high_told,
  CASE WHEN f = 'fetch' THEN last_stable_offset
    WHEN asked_timestamp = -1 AND coalesce(isolation, 'unknown') <> 'read_uncommitted'
    THEN answered_offset END AS stable_told,
  CASE WHEN asked_timestamp = -2 THEN answered_offset
    WHEN f <> 'delete_records' THEN log_start_offset END AS start_told
FROM responses
WHERE type = 'ok' AND f IN ('fetch', 'list_offsets', 'produce', 'delete_records')
