-- What was read of each log, by leader epoch and clock: how many records, how many of them followed the
-- one before them without a gap, which offsets, when. Whatever is only counted is counted from here.
-- computed once
SELECT topic, partition, leader_epoch AS epoch, clock, count(*) AS seen,
  count(CASE WHEN follows = record_offset - 1 THEN 1 END) AS followed,
  min(record_offset) AS first_offset, max(record_offset) AS last_offset, min(op) AS op,
  min(began) AS began, max(answered) AS answered
FROM records_seen
GROUP BY topic, partition, leader_epoch, clock
