-- Each committed offset that a group was told, against the commits of it. `overwritten_since` is the
-- latest beginning of a commit that was over before the question: what was over before that is gone.
-- `until` is the latest end of a commit of the offset told that began before the answer (for ever, if
-- its outcome is not known); null if nobody committed it. A commit in a transaction may come any time.
-- Groups whose members have several clocks are left out: the order of their commits is not known.
WITH one_clock AS (
  SELECT group_id, topic, partition FROM group_offsets
  GROUP BY group_id, topic, partition HAVING min(clock) = max(clock)
),
commits AS (
  SELECT g.op, g.group_id, g.topic, g.partition, g.clock, g.committed_offset, g.began,
    CASE WHEN g.f = 'offset_commit' THEN g.ended END AS ended
  FROM group_offsets g
  JOIN one_clock o ON g.group_id = o.group_id AND g.topic = o.topic AND g.partition = o.partition
  WHERE g.f <> 'offset_fetch' AND g.type <> 'fail'
),
told AS (
  SELECT g.op, g.group_id, g.topic, g.partition, g.clock, g.committed_offset, g.began, g.ended
  FROM group_offsets g
  JOIN one_clock o ON g.group_id = o.group_id AND g.topic = o.topic AND g.partition = o.partition
  WHERE g.f = 'offset_fetch' AND g.type = 'ok' AND g.committed_offset IS NOT NULL
),
moments AS (
  SELECT group_id, topic, partition, clock, ended AS moment, 1 AS turn, op, began AS fresh
  FROM commits WHERE ended IS NOT NULL
  UNION ALL
  SELECT group_id, topic, partition, clock, began, 0, op, NULL FROM told
),
offers AS (
  SELECT group_id, topic, partition, clock, committed_offset, began AS moment, 0 AS turn, op,
    coalesce(ended, 9223372036854775807) AS until
  FROM commits
  UNION ALL
  SELECT group_id, topic, partition, clock, committed_offset, ended, 1, op, NULL FROM told
),
overwritten AS (
  SELECT op, turn, max(fresh) OVER (PARTITION BY group_id, topic, partition, clock
    ORDER BY moment, turn, op ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS since
  FROM moments
),
offered AS (
  SELECT op, turn, max(until) OVER (PARTITION BY group_id, topic, partition, clock, committed_offset
    ORDER BY moment, turn, op ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS until
  FROM offers
)
SELECT t.op, t.group_id, t.topic, t.partition, t.committed_offset, o.since AS overwritten_since,
  f.until, t.clock, least(t.began, coalesce(o.since, t.began)) AS began, t.ended
FROM told t
JOIN overwritten o ON t.op = o.op AND o.turn = 0
JOIN offered f ON t.op = f.op AND f.turn = 1
