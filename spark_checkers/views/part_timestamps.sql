-- Each search by timestamp (-3 asks for the greatest), against the records of its log that were there
-- all the time (part_stamp_logs) and that it was to see (outside of transactions or read by read_committed
-- readers, unless it reads uncommitted; an open transaction hides what is behind it from the others).
-- `first_as_late` is the first offset with such a timestamp, `known_since` when the first record with
-- such a timestamp was acknowledged or read; of a search for the greatest: with a timestamp later than
-- the one found. Where nobody asked within a stretch of 1024 ms one timestamp stands for all of it.
WITH stretches AS (
  SELECT DISTINCT log, stamp >> 10 AS stretch FROM part_searches
),
stamps AS (
  SELECT k.log, CASE WHEN n.log IS NULL THEN (k.stamp >> 10) << 10 ELSE k.stamp END AS stamp,
    min(k.record_offset) AS first_offset, min(k.since) AS since
  FROM (
    SELECT l.log, r.record_offset, r.timestamp AS stamp,
      CASE WHEN NOT (l.committed AND l.transacts) THEN r.ended END AS since
    FROM records_sent r
    JOIN part_stamp_logs l ON r.topic = l.topic AND r.partition = l.partition AND r.clock = l.clock
      AND r.began > l.after AND r.ended < l.before
    WHERE r.type = 'ok' AND r.acks = -1 AND r.record_offset >= l.log_start
      AND r.timestamp IS NOT NULL AND (NOT l.committed OR r.transaction IS NULL)
    UNION ALL
    SELECT l.log, s.record_offset, s.timestamp, s.answered
    FROM records_seen s
    JOIN part_stamp_logs l ON s.topic = l.topic AND s.partition = l.partition AND s.clock = l.clock
      AND s.began > l.after AND s.answered < l.before
    WHERE s.record_offset >= l.log_start AND s.timestamp IS NOT NULL
      AND (NOT l.committed OR s.isolation = 'read_committed')
  ) k
  LEFT JOIN stretches n ON k.log = n.log AND k.stamp >> 10 = n.stretch
  GROUP BY k.log, CASE WHEN n.log IS NULL THEN (k.stamp >> 10) << 10 ELSE k.stamp END
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
SELECT a.op, a.topic, a.partition, a.node, a.asked_timestamp, a.answered_offset, a.found_timestamp,
  l.first_as_late, l.known_since, a.began AS asked_at, a.clock,
  least(a.began, coalesce(l.known_since, a.began)) AS began,
  greatest(a.answered, a.last_shown) AS ended
FROM part_searches a
JOIN later l ON a.op = l.op
WHERE a.last_shown > a.answered
