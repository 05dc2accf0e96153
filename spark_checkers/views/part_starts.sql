-- Each log by clock: the greatest log start anybody was shown, and when the last answer that showed one
-- began. What is not below that start was in the log at every moment before that answer.
-- computed once
SELECT topic, partition, clock, max(log_start) AS log_start, max(began) AS last_shown
FROM (
  SELECT topic, partition, clock, start_told AS log_start, began
  FROM part_answers WHERE start_told >= 0
  UNION ALL
  SELECT topic, partition, clock, log_start_offset, NULL
  FROM part_answers WHERE f = 'delete_records' AND log_start_offset >= 0
) shown
GROUP BY topic, partition, clock
