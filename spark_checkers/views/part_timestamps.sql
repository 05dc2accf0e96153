-- Each search by timestamp (-3 asks for the greatest), against the records of its log that were there
-- all the time (part_stamp_logs) and that it was to see (part_stamped).
-- `first_as_late` is the first offset with such a timestamp, `known_since` when the first record with
-- such a timestamp was acknowledged or read; of a search for the greatest: with a timestamp later than
-- the one found. Where nobody asked within a stretch of 1024 ms one timestamp stands for all of it.
-- The latest record known before a search counts even if it was deleted later (part_latest_known).
-- `late_below`: a record as late was ever sent or read that may have been below the log start then. Kafka
-- searches the first segment that has such a record, and no other: it finds nothing if that is the one.
WITH stretches AS (
  SELECT DISTINCT log, stamp >> 10 AS stretch FROM part_searches
),
stamps AS (
  SELECT k.log, CASE WHEN n.log IS NULL THEN (k.stamp >> 10) << 10 ELSE k.stamp END AS stamp,
    min(k.record_offset) AS first_offset, min(k.since) AS since
  FROM part_stamped k
  LEFT JOIN stretches n ON k.log = n.log AND k.stamp >> 10 = n.stretch
  WHERE k.record_offset >= k.log_start
  GROUP BY k.log, CASE WHEN n.log IS NULL THEN (k.stamp >> 10) << 10 ELSE k.stamp END
),
starts AS (
  SELECT log, op, max(log_start) OVER (PARTITION BY log ORDER BY moment, turn, op
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS log_start
  FROM (
    SELECT l.log, CASE WHEN s.clock = l.clock THEN coalesce(s.since, -9223372036854775807)
        ELSE -9223372036854775807 END AS moment, 1 AS turn, CAST(NULL AS BIGINT) AS op, s.log_start
    FROM log_starts_possible s
    JOIN part_stamp_logs l ON s.topic = l.topic AND s.partition = l.partition
    UNION ALL
    SELECT log, answered, 0, op, NULL FROM part_searches
  ) possible
),
ever AS (
  SELECT topic, partition, record_offset, max(stamp) AS stamp
  FROM (
    SELECT topic, partition, record_offset, timestamp AS stamp
    FROM records_sent WHERE type <> 'fail'
    UNION ALL
    SELECT topic, partition, record_offset, timestamp FROM records_seen
  ) records
  WHERE stamp IS NOT NULL AND record_offset IS NOT NULL
  GROUP BY topic, partition, record_offset
),
below AS (
  SELECT op, max(stamp) OVER (PARTITION BY log ORDER BY record_offset, turn, op
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS stamp
  FROM (
    SELECT l.log, e.record_offset, 1 AS turn, CAST(NULL AS BIGINT) AS op, e.stamp
    FROM ever e
    JOIN part_stamp_logs l ON e.topic = l.topic AND e.partition = l.partition
    UNION ALL
    SELECT log, log_start, 0, op, NULL FROM starts WHERE op IS NOT NULL AND log_start IS NOT NULL
  ) records
),
later AS (
  SELECT op, min(first_offset) OVER as_late AS first_as_late, min(since) OVER as_late AS known_since
  FROM (
    SELECT log, stamp, 1 AS turn, CAST(NULL AS BIGINT) AS op, first_offset, since FROM stamps
    UNION ALL
    SELECT log, stamp, CASE WHEN asked_timestamp = -3 THEN 0 ELSE 2 END, op, NULL, NULL
    FROM part_searches
  ) marks
  WINDOW as_late AS (PARTITION BY log ORDER BY stamp DESC NULLS LAST, turn
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
)
SELECT op, topic, partition, node, asked_timestamp, answered_offset, found_timestamp, first_as_late,
  known_since, late_below, asked_at, clock, least(asked_at, coalesce(known_since, asked_at)) AS began, ended
FROM (
  SELECT a.op, a.topic, a.partition, a.node, a.asked_timestamp, a.answered_offset, a.found_timestamp,
    l.first_as_late, least(l.known_since, k.since) AS known_since, a.began AS asked_at, a.clock,
    greatest(a.answered, a.last_shown) AS ended, coalesce(b.stamp >= a.stamp, FALSE) AS late_below
  FROM part_searches a
  JOIN later l ON a.op = l.op
  LEFT JOIN below b ON a.op = b.op
  LEFT JOIN part_latest_known k ON a.op = k.op
    AND (k.stamp > a.stamp OR k.stamp = a.stamp AND a.asked_timestamp >= 0)
  WHERE a.last_shown > a.answered
) searched
