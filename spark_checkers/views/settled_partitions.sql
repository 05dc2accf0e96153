-- Each partition in the last look of a phase in which the cluster was to settle, as the broker with the least number says. `agreed`: all
-- that are up answered and said the same; `other_state`: what another one said.
-- computed once
WITH told AS (
  SELECT settled_told.*,
    row_number() OVER (PARTITION BY op, topic, partition ORDER BY node) AS place,
    min(state) OVER (PARTITION BY op, topic, partition) AS least_state,
    max(state) OVER (PARTITION BY op, topic, partition) AS greatest_state
  FROM settled_told
)
SELECT op, clock, began, ended, whole, bound_s, topic, partition, told_op, node AS teller, type,
  error, topic_id, leader, leader_epoch, replicas, isr, elr, last_known_elr, replica_count, isr_count,
  state, CASE WHEN least_state <> state THEN least_state WHEN greatest_state <> state
    THEN greatest_state END AS other_state,
  coalesce(least_state = greatest_state AND error IS NOT NULL, FALSE) AS agreed
FROM told WHERE place = 1 AND phase = 'settle'
