-- Each partition in two settled looks that follow each other, with who may lead in the second: the first
-- replica that was in the ISR and is up, or, where the ISR was empty, in the ELR and has kept its log;
-- else the one last known leader. `removed`: a replica that is none any more; `unsure`: how many members
-- of the first ISR went down and came back in between.
WITH candidates AS (
  SELECT op, topic, partition,
    min(CASE WHEN was_in_isr AND up THEN place END) AS isr_place,
    min(CASE WHEN was_in_elr AND up AND NOT lost THEN place END) AS elr_place,
    sum(CASE WHEN was_last_known THEN 1 ELSE 0 END) AS last_known,
    min(CASE WHEN was_last_known AND up THEN place END) AS last_known_place,
    sum(CASE WHEN was_in_isr AND lost THEN 1 ELSE 0 END) AS unsure,
    sum(CASE WHEN was_in_elr AND NOT lost THEN 1 ELSE 0 END) AS electable,
    max(CASE WHEN was_leader AND up THEN 1 ELSE 0 END) = 1 AS leader_up,
    max(CASE WHEN leads THEN place END) AS leader_place,
    min(CASE WHEN place IS NULL AND was_place IS NOT NULL THEN broker END) AS removed
  FROM member_changes GROUP BY op, topic, partition
)
SELECT c.op, c.clock, c.whole, c.bound_s, c.began, c.ended, c.topic, c.partition, c.leader, c.leader_epoch, c.replicas, c.before_replicas, c.isr,
  c.elr, c.before_leader, c.before_epoch, c.before_isr, c.before_elr, c.moves, c.unclean, c.unclear,
  k.unsure, k.removed, k.leader_up, k.leader_place,
  CASE WHEN c.before_isr_count > 0 THEN k.isr_place
    WHEN k.electable > 0 THEN k.elr_place
    WHEN k.last_known = 1 THEN k.last_known_place END AS due_place
FROM settled_changes c
JOIN candidates k ON k.op = c.op AND k.topic = c.topic AND k.partition = c.partition
