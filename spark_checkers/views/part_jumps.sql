-- Each record that does not follow the one before it in its answer (of the first: the offset asked
-- for) without a gap, and the log start that the answer names. `committed`: the reader may have been kept
-- from records of open or aborted transactions. Markers, compaction and transactions leave gaps, so a
-- gap alone is no fault.
-- computed once
SELECT s.op, s.topic, s.partition, s.record_offset, s.follows, s.clock, s.began, s.answered,
  coalesce(s.isolation, 'unknown') <> 'read_uncommitted' AS committed,
  coalesce(a.log_start_offset, 0) AS log_start
FROM (SELECT * FROM records_seen WHERE follows < record_offset - 1) s
LEFT JOIN part_answers a ON s.op = a.op AND s.topic = a.topic AND s.partition = a.partition
