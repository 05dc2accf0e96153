-- Each record that a micro-operation polled, with the place of its value in the order of versions and the last operation that
-- sent it; both null where nobody knows.
-- computed once
SELECT r.op, r.completion, r.f, r.mop, r.position, r.process, r.topic, r.partition,
  r.record_offset, r.value, coalesce(r.rebalanced, FALSE) AS rebalanced, r.type, r.clock, r.began,
  r.answered AS ended, v.place, v.writer, v.writer_op, v.failed
FROM records_seen r
LEFT JOIN log_values v ON r.topic = v.topic AND r.partition = v.partition AND r.value = v.value
WHERE r.f IN ('poll', 'txn')
