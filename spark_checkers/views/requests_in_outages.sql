-- Each request that began and was answered while the remote store was out of order, or while one object
-- of it was damaged. `local_before` and `local_after`: the earliest local offset that a leader of the log named last before and first after it;
-- it only rises. `start_before`: the latest log start that was named before it. `took_ms`: how long the answer took; `latest`: no later request of its kind was made to
-- the log in the same outage; `damaged`: the store works, and an object is not what was written; `shown`: of
-- a refusal as out of range, how far the same replica had shown the log as committed before, in the same
-- stretch of time in which replicas were up and kept what they had.
WITH outages AS (
  SELECT clock, fault, since, coalesce(until, 9223372036854775807) AS until,
    fault IN ('object-vanished', 'object-torn', 'object-corrupt') AS damaged
  FROM fault_windows
  WHERE fault IN ('object-store-refused', 'object-store-slow', 'object-store-broken',
    'object-store-killed', 'object-store-reply-lost', 'object-store-half-writes', 'store-fails',
    'object-vanished', 'object-torn', 'object-corrupt')
    AND landed
),
asked AS (
  SELECT o.op, o.topic, o.partition, o.clock, o.node, o.f, o.type, o.error, o.began, o.answered,
    (o.completed_ns - o.invoked_ns) / 1000000 AS took_ms, w.fault, w.damaged,
    row_number() OVER (PARTITION BY w.clock, w.since, w.fault, o.topic, o.partition, o.f
      ORDER BY o.began DESC, o.op DESC) AS back
  FROM ops o
  JOIN outages w ON o.clock = w.clock AND o.began > w.since AND o.answered < w.until
  WHERE o.f IN ('produce', 'fetch', 'list_offsets', 'create_topics', 'delete_topics')
),
starts AS (
  SELECT topic, partition, clock, began, answered, answered_offset AS local_start
  FROM offsets_listed
  WHERE asked_timestamp = -4 AND type = 'ok'
),
known AS (
  SELECT a.op, max(CASE WHEN s.answered < a.began THEN s.local_start END) AS local_before,
    min(CASE WHEN s.began > a.answered THEN s.local_start END) AS local_after
  FROM asked a
  JOIN starts s ON a.topic = s.topic AND a.partition = s.partition AND a.clock = s.clock
  GROUP BY a.op
),
begins AS (
  SELECT a.op, max(coalesce(p.start_told, p.log_start_offset)) AS start_before
  FROM asked a
  JOIN part_answers p ON a.topic = p.topic AND a.partition = p.partition AND a.clock = p.clock
    AND p.answered < a.began
  WHERE a.f = 'fetch'
  GROUP BY a.op
),
reached AS (
  SELECT a.op, max(p.reach) AS shown
  FROM asked a
  JOIN part_answers p ON a.topic = p.topic AND a.partition = p.partition AND a.clock = p.clock
    AND a.node = p.node AND p.answered < a.began
  LEFT JOIN spans_unbroken s ON s.kind = 'running' AND a.clock = s.clock AND p.began > s.after
    AND a.answered < s.before
  LEFT JOIN clocks_with_windows b ON a.clock = b.clock
  WHERE a.f = 'fetch' AND a.error = 'OFFSET_OUT_OF_RANGE' AND (s.clock IS NOT NULL OR b.clock IS NULL)
  GROUP BY a.op
)
SELECT a.op, a.topic, a.partition, a.clock, a.node, a.f, a.type, a.error, a.began, a.answered AS ended,
  a.took_ms, a.fault, a.damaged, a.back = 1 AS latest, r.asked_offset, r.records, r.acks, r.asked_timestamp, r.high_watermark,
  r.log_start_offset, k.local_before, k.local_after,
  coalesce(b.start_before, 0) AS start_before, e.shown
FROM asked a
LEFT JOIN responses r ON a.op = r.op
LEFT JOIN known k ON a.op = k.op
LEFT JOIN begins b ON a.op = b.op
LEFT JOIN reached e ON a.op = e.op
