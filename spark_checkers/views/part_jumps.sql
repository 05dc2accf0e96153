-- Each record that does not follow the one before it in its answer (of the first: the offset asked
-- for) without a gap. `committed`: the reader may have been kept from records of open or aborted
-- transactions. Markers, compaction and transactions leave gaps, so a gap alone is no fault.
-- computed once
SELECT op, topic, partition, record_offset, follows, clock, began, answered,
  coalesce(isolation, 'unknown') <> 'read_uncommitted' AS committed
FROM records_seen WHERE follows < record_offset - 1
