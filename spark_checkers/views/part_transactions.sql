-- Each transaction: which of its records were read by read_committed readers and which they passed
-- over and never read, and since when anybody may have asked to commit it.
-- complete within the transaction
WITH reads AS (
  SELECT m.transaction, s.op, s.clock, s.answered
  FROM part_members m
  JOIN records_seen s ON m.topic = s.topic AND m.partition = s.partition
    AND m.record_offset = s.record_offset AND m.value = s.value
  WHERE s.isolation = 'read_committed'
  UNION ALL
  SELECT transaction, op, clock, answered FROM unsettled_reads_traced
  WHERE transaction IS NOT NULL AND senders = 1 AND acknowledged_offset IS NULL
    AND isolation = 'read_committed'
),
first_reads AS (
  SELECT transaction, min(op) AS read_op, min(answered) AS first_read, max(answered) AS last_read,
    min(clock) AS least_clock, max(clock) AS greatest_clock
  FROM reads GROUP BY transaction
),
missed AS (
  SELECT transaction, min(op) AS missed_op, min(record_offset) AS missed_offset, count(*) AS missed,
    max(ended) AS passed_until
  FROM part_skipped WHERE committed AND transaction IS NOT NULL GROUP BY transaction
),
ends AS (
  SELECT transaction, count(*) AS ends,
    min(CASE WHEN committed AND type <> 'fail' THEN began END) AS commit_began,
    min(clock) AS least_clock, max(clock) AS greatest_clock
  FROM transactions GROUP BY transaction
),
sizes AS (
  SELECT transaction, count(*) AS records, min(op) AS op, min(topic) AS topic,
    min(partition) AS partition, min(clock) AS clock, min(began) AS began
  FROM part_members GROUP BY transaction
)
SELECT z.op, z.topic, z.partition, z.transaction, z.records, z.clock, z.began,
  greatest(r.last_read, coalesce(m.passed_until, r.last_read)) AS ended,
  r.read_op, r.first_read, coalesce(m.missed, 0) AS missed, m.missed_op, m.missed_offset,
  coalesce(e.ends, 0) AS ends, e.commit_began,
  coalesce(e.least_clock = r.least_clock AND e.greatest_clock = r.greatest_clock
    AND e.least_clock = e.greatest_clock, FALSE) AS one_clock
FROM sizes z
LEFT JOIN first_reads r ON z.transaction = r.transaction
LEFT JOIN missed m ON z.transaction = m.transaction
LEFT JOIN ends e ON z.transaction = e.transaction
