-- Each transaction that a reader of committed records was told to be aborted, with what the markers of the
-- log say of the transaction of that producer that begins there (`fate`; null if none does) and where it
-- ends. Only what is below the end of the last whole read of its
-- broker; what was undecided then is left out if the list is later, or the read ended below where the log
-- ended for the reader: its marker may be between.
WITH begun AS (
  SELECT topic, partition, node, clock, producer_id, begins_at, min(fate) AS fate,
    max(decided_at) AS decided_at
  FROM batch_fates
  GROUP BY topic, partition, node, clock, producer_id, begins_at
)
SELECT l.op, l.topic, l.partition, l.node, l.clock, least(l.began, w.began) AS began,
  greatest(l.answered, w.answered) AS ended, l.asked_offset,
  l.producer_id, l.first_offset, b.fate, b.decided_at
FROM aborted_listed l
JOIN logs_read_whole w ON l.topic = w.topic AND l.partition = w.partition AND l.node = w.node
  AND l.clock = w.clock AND l.first_offset < w.reach AND w.op = w.chain
LEFT JOIN begun b ON l.topic = b.topic AND l.partition = b.partition AND l.node = b.node
  AND l.clock = b.clock AND l.producer_id = b.producer_id AND l.first_offset = b.begins_at
WHERE w.answered >= l.answered AND w.reach >= l.high_watermark OR b.topic IS NULL OR b.fate IS NOT NULL
