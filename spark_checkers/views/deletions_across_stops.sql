-- Each DeleteRecords that was answered while all nodes ran, with the least log start that a leader named
-- after a broker had been stopped in good order, and started: nothing else went wrong from the one to the
-- other.
WITH windows AS (
  SELECT clock, since, coalesce(until, 9223372036854775807) AS until,
    fault IN ('restart', 'rolling-restart') AS stop,
    fault IN ('restart', 'rolling-restart') OR coalesce(target LIKE 'restart on %', FALSE)
      OR coalesce(target LIKE 'rolling-restart on %', FALSE) AS in_good_order
  FROM fault_windows
),
deleted AS (
  SELECT d.op, d.topic, d.partition, d.clock, d.began, d.answered,
    greatest(d.log_start_offset, d.asked_offset) AS level
  FROM part_answers d
  WHERE d.f = 'delete_records' AND NOT EXISTS (
    SELECT 1 FROM windows w WHERE w.clock = d.clock AND w.since <= d.answered AND w.until >= d.began
  )
),
lasting AS (
  SELECT d.op, d.topic, d.partition, d.clock, d.began, d.level,
    min(CASE WHEN w.stop THEN w.until END) AS stopped_until,
    coalesce(min(CASE WHEN NOT w.in_good_order THEN w.since END), 9223372036854775807) AS upto
  FROM deleted d
  JOIN windows w ON d.clock = w.clock AND w.since > d.answered
  GROUP BY d.op, d.topic, d.partition, d.clock, d.began, d.level
)
SELECT l.op, l.topic, l.partition, l.clock, l.began, max(a.answered) AS ended, l.level,
  min(a.start_told) AS least_told, min_by(a.node, a.start_told) AS node
FROM lasting l
JOIN part_answers a ON l.topic = a.topic AND l.partition = a.partition AND l.clock = a.clock
  AND a.began > l.stopped_until AND a.answered < l.upto
WHERE a.start_told >= 0 AND a.epoch IS NOT NULL
GROUP BY l.op, l.topic, l.partition, l.clock, l.began, l.level
