-- Each record that an operation sent right after another to the same log, and by how many places of
-- the order of versions it went on (`delta`; null if a place is not known).
WITH steps AS (
  SELECT op, coalesce(completion, op) AS completion, topic, partition, clock, began, ended, value,
    place, lag(value) OVER sent AS value_before, lag(place) OVER sent AS place_before
  FROM log_posted
  WINDOW sent AS (PARTITION BY op, topic, partition ORDER BY mop)
)
SELECT *, place - place_before AS delta FROM steps WHERE value_before IS NOT NULL
