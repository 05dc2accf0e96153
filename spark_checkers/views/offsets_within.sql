-- Each committed offset that a group was told, of places for which transactions commit offsets: whether one
-- that may count by then has this offset (`possible`). A commit counts at once outside of transactions, and
-- within one when that is committed; of those that count the last in the log is told, whichever transaction
-- ended first. `latest` is the offset of the one that was asked for last of all that counted for certain
-- before the question; `allowed`: one has the offset told that was not over before that one was asked for.
-- Groups whose members have several clocks are left out: the order of their commits is not known.
WITH places AS (
  SELECT group_id, topic, partition FROM group_offsets
  GROUP BY group_id, topic, partition
  HAVING min(clock) = max(clock)
    AND max(CASE WHEN f = 'txn_offset_commit' AND transaction IS NOT NULL THEN 1 ELSE 0 END) = 1
    AND max(CASE WHEN f = 'txn_offset_commit' AND transaction IS NULL THEN 1 ELSE 0 END) = 0
),
commits AS (
  SELECT g.group_id, g.topic, g.partition, g.committed_offset, g.began, g.ended,
    CASE WHEN g.transaction IS NULL THEN g.began ELSE e.commit_began END AS may_count,
    CASE WHEN g.transaction IS NULL THEN g.ended
      WHEN e.decision = 'commit' THEN greatest(e.decided, g.ended) END AS counts
  FROM group_offsets g
  JOIN places p ON g.group_id = p.group_id AND g.topic = p.topic AND g.partition = p.partition
  LEFT JOIN transactions_ended e ON g.transaction = e.transaction AND g.clock = e.clock
  WHERE g.f <> 'offset_fetch' AND g.type <> 'fail' AND coalesce(e.decision, 'commit') = 'commit'
),
told AS (
  SELECT g.op, g.group_id, g.topic, g.partition, g.clock, g.began, g.ended, g.committed_offset
  FROM group_offsets g
  JOIN places p ON g.group_id = p.group_id AND g.topic = p.topic AND g.partition = p.partition
  WHERE g.f = 'offset_fetch' AND g.type = 'ok'
),
before AS (
  SELECT t.op, max(c.began) AS since, max_by(c.committed_offset, c.began) AS latest
  FROM told t
  JOIN commits c ON t.group_id = c.group_id AND t.topic = c.topic AND t.partition = c.partition
  WHERE c.ended IS NOT NULL AND c.counts < t.began
  GROUP BY t.op
)
SELECT t.op, t.topic, t.partition, t.clock, t.began, t.ended, t.group_id, t.committed_offset, b.latest,
  max(CASE WHEN c.may_count < t.ended THEN 1 ELSE 0 END) = 1 AS possible,
  max(CASE WHEN c.may_count < t.ended AND coalesce(c.ended >= b.since, TRUE) THEN 1 ELSE 0 END) = 1
    AS allowed
FROM told t
LEFT JOIN before b ON t.op = b.op
LEFT JOIN commits c ON t.group_id = c.group_id AND t.topic = c.topic
  AND t.partition = c.partition AND t.committed_offset = c.committed_offset
GROUP BY t.op, t.topic, t.partition, t.clock, t.began, t.ended, t.group_id, t.committed_offset, b.latest
