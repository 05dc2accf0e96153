-- Each phase in which clients were to make progress, by partition. `tries`: what was asked in it;
-- `appended_op`: the first append of it with acks=all that was acknowledged; `read_op`: the first fetch of
-- it that showed a record at that offset or later. No fault was in force, or `cut`: one link between two
-- brokers was cut from beginning to end.
WITH progress AS (
  SELECT index, clock, since, until, bound_ns, lasted_ns, CAST(NULL AS STRING) AS cut
  FROM phases_in_peace WHERE phase = 'progress'
  UNION ALL
  SELECT index, clock, since, until, bound_ns, lasted_ns, cut FROM phases_with_a_cut
  WHERE phase = 'progress'
),
tried AS (
  SELECT p.index, p.clock, p.since, p.until, p.bound_ns, p.lasted_ns, p.cut, o.topic, o.partition,
    count(*) AS tries, sum(CASE WHEN o.f = 'produce' THEN 1 ELSE 0 END) AS appends,
    max(CASE WHEN o.f = 'produce' THEN o.op END) AS last_append
  FROM progress p
  JOIN ops o ON o.clock = p.clock AND o.began >= p.since AND o.began <= p.until
  WHERE o.topic IS NOT NULL AND o.partition IS NOT NULL
  GROUP BY p.index, p.clock, p.since, p.until, p.bound_ns, p.lasted_ns, p.cut, o.topic, o.partition
),
appended AS (
  SELECT t.index, t.clock, t.until, t.topic, t.partition, min(s.op) AS op, min(s.base_offset) AS base_offset
  FROM tried t
  JOIN sends s ON s.clock = t.clock AND s.topic = t.topic AND s.partition = t.partition
    AND s.began >= t.since AND s.ended <= t.until
  WHERE s.acks = -1 AND s.type = 'ok' AND s.base_offset IS NOT NULL
  GROUP BY t.index, t.clock, t.until, t.topic, t.partition
),
shown AS (
  SELECT a.index, a.topic, a.partition, a.op, min(r.op) AS read_op
  FROM appended a
  JOIN records_seen r ON r.clock = a.clock AND r.topic = a.topic AND r.partition = a.partition
    AND r.answered <= a.until AND r.op > a.op
  WHERE r.record_offset >= a.base_offset
  GROUP BY a.index, a.topic, a.partition, a.op
)
SELECT t.index AS op, t.clock, t.since AS began, t.until AS ended, t.bound_ns, t.lasted_ns, t.cut,
  t.topic, t.partition, t.tries, t.appends, o.error AS last_error, a.op AS appended_op, a.base_offset, s.read_op,
  t.bound_ns / 1000000000 AS bound_s
FROM tried t
LEFT JOIN ops o ON o.op = t.last_append
LEFT JOIN appended a ON a.index = t.index AND a.topic = t.topic AND a.partition = t.partition
LEFT JOIN shown s ON s.index = t.index AND s.topic = t.topic AND s.partition = t.partition
