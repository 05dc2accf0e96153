-- Each operation that polled a log which the same process had polled before and kept since, against
-- the last ok operation that did (`completion_before`): by how many places the first value is ahead
-- of the last value then (`delta`; null if one is not known). What an operation polled that failed or
-- has an unknown outcome is judged; where it left off binds nobody.
WITH before AS (
  SELECT *, max(CASE WHEN type = 'ok' THEN completion END) OVER (
      PARTITION BY process, topic, partition ORDER BY completion
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS completion_before
  FROM log_turns WHERE way = 'poll'
)
SELECT t.op, t.completion, t.process, t.topic, t.partition, t.clock, t.began, t.ended,
  t.completion_before, b.last_value AS value_before, t.first_value AS value,
  b.last_place AS place_before, t.first_place AS place, t.first_place - b.last_place AS delta
FROM before t
JOIN log_turns b ON b.way = 'poll' AND b.process = t.process AND b.topic = t.topic
  AND b.partition = t.partition AND b.completion = t.completion_before
WHERE t.changes - b.changes = t.keeps - b.keeps
