-- Each operation that sent to a log to which the same process had sent before, with no assignment
-- between them that drops the log: by how many places its first value is ahead of the last value
-- then (`delta`; null if one is not known). Sends that certainly had no effect are left out.
WITH before AS (
  SELECT *, lag(completion) OVER log AS completion_before, lag(last_value) OVER log AS value_before,
    lag(last_place) OVER log AS place_before, lag(changes) OVER log AS changes_before,
    lag(keeps) OVER log AS keeps_before
  FROM log_turns WHERE way = 'send'
  WINDOW log AS (PARTITION BY process, topic, partition ORDER BY completion)
)
SELECT op, completion, process, topic, partition, clock, began, ended, completion_before,
  value_before, first_value AS value, place_before, first_place AS place,
  first_place - place_before AS delta
FROM before
WHERE completion_before IS NOT NULL AND changes - changes_before = keeps - keeps_before
