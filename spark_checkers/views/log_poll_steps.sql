-- Each record that an operation polled right after another of the same log, and by how many places of
-- the order of versions it went on (`delta`; null if a place is not known). Logs that were taken from
-- or given to the process meanwhile are left out.
WITH steps AS (
  SELECT op, completion, topic, partition, clock, began, ended, value, place,
    lag(value) OVER polled AS value_before, lag(place) OVER polled AS place_before
  FROM log_polled WHERE NOT rebalanced
  WINDOW polled AS (PARTITION BY op, topic, partition ORDER BY mop, position)
)
SELECT *, place - place_before AS delta FROM steps WHERE value_before IS NOT NULL
