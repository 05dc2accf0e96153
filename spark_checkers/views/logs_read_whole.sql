-- The last answers of each broker that show a log with all kinds of records from its start on: one answer, or
-- several of one reader that go on where the one before ended (`chain`: the first of them), as a tiered log
-- is given segment by segment. `reach` is where they end, `began` and `answered` are of all of them.
-- computed once
WITH given AS (
  SELECT op, topic, partition, max(last_offset) + 1 AS reach FROM log_batches GROUP BY op, topic, partition
),
reads AS (
  SELECT r.op, r.topic, r.partition, r.node, r.clock, r.process, r.began, r.answered, g.reach,
    r.asked_offset <= r.log_start_offset AS from_start,
    r.asked_offset IS NOT DISTINCT FROM lag(g.reach) OVER turns AS goes_on
  FROM responses r
  LEFT JOIN given g ON r.op = g.op AND r.topic = g.topic AND r.partition = g.partition
  WHERE r.f = 'fetch' AND r.type = 'ok' AND r.isolation = 'read_uncommitted'
  WINDOW turns AS (PARTITION BY r.topic, r.partition, r.node, r.clock, r.process ORDER BY r.op)
),
numbered AS (
  SELECT *, sum(CASE WHEN goes_on AND NOT from_start THEN 0 ELSE 1 END) OVER (
    PARTITION BY topic, partition, node, clock, process ORDER BY op) AS number
  FROM reads
),
chained AS (
  SELECT op, topic, partition, node, clock, reach, min(op) OVER chained AS chain,
    bool_or(from_start) OVER chained AS from_start, min(began) OVER chained AS began,
    max(answered) OVER chained AS answered
  FROM numbered
  WINDOW chained AS (PARTITION BY topic, partition, node, clock, process, number)
),
last AS (
  SELECT *, dense_rank() OVER (PARTITION BY topic, partition, node, clock
      ORDER BY answered DESC, chain DESC) AS back
  FROM chained
  WHERE from_start
)
SELECT op, chain, topic, partition, node, clock, began, answered,
  max(reach) OVER (PARTITION BY topic, partition, node, clock) AS reach
FROM last
WHERE back = 1 AND reach IS NOT NULL
