-- Each send of a micro-operation, with the place of its value in the order of versions; null where
-- nobody knows.
-- computed once
SELECT s.op, s.completion, s.f, s.mop, s.process, s.topic, s.partition, s.value, s.type, s.clock,
  s.began, s.ended, v.place
FROM records_sent s
LEFT JOIN log_values v ON s.topic = v.topic AND s.partition = v.partition AND s.value = v.value
WHERE s.f IN ('send', 'txn')
