-- Each value that micro-operations sent to a log or polled from it. `writer` is the completion of the
-- last operation that sent it (its invocation, if it has none), `writer_op` and `writer_type` are
-- that operation's; `failed` tells whether some send of it certainly had no effect. `acked_at` and
-- `seen_at` are the completions of the first acknowledged send of it and of the first ok operation
-- that polled it.
-- computed once
SELECT topic, partition, value,
  max(writer) AS writer,
  max_by(sent_op, writer) AS writer_op,
  max_by(sent_type, writer) AS writer_type,
  coalesce(max(failed), 0) AS failed,
  min(acked_at) AS acked_at,
  min(seen_at) AS seen_at
FROM (
  SELECT topic, partition, value, coalesce(completion, op) AS writer, op AS sent_op,
    type AS sent_type, CASE WHEN type = 'fail' THEN 1 ELSE 0 END AS failed,
    CASE WHEN type = 'ok' THEN coalesce(completion, op) END AS acked_at,
    CAST(NULL AS BIGINT) AS seen_at
  FROM records_sent WHERE f IN ('send', 'txn')
  UNION ALL
  SELECT topic, partition, value, NULL, NULL, NULL, NULL, NULL,
    CASE WHEN type = 'ok' THEN completion END
  FROM records_seen WHERE f IN ('poll', 'txn')
) told
GROUP BY topic, partition, value
