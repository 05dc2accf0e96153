-- Each election that was asked for once between two settled looks, with what has to be answered.
WITH asked AS (
  SELECT a.op, a.clock, a.topic, a.partition, a.began, a.answered, a.election, a.error, a.type,
    max(g.op) AS before_op
  FROM admin_ops a
  JOIN settled_groups g ON g.clock = a.clock AND g.topic = a.topic AND g.partition = a.partition
    AND g.ended < a.began
  WHERE a.f = 'elect_leaders' AND a.type <> 'info' OR a.error = 'ELECTION_NOT_NEEDED'
  GROUP BY a.op, a.clock, a.topic, a.partition, a.began, a.answered, a.election, a.error, a.type
)
SELECT a.op, a.clock, a.topic, a.partition, a.began, a.answered AS ended, a.election, a.error, g.leader,
  g.replicas, g.isr, c.leader AS led_by, g.preferred,
  CASE WHEN a.election = 'preferred' THEN
    CASE WHEN g.leader = g.preferred THEN 'ELECTION_NOT_NEEDED' WHEN g.preferred_able THEN 'NONE'
      ELSE 'PREFERRED_LEADER_NOT_AVAILABLE' END
  ELSE
    CASE WHEN g.leader >= 0 THEN 'ELECTION_NOT_NEEDED' WHEN g.up_replicas > 0 THEN 'NONE'
      ELSE 'ELIGIBLE_LEADERS_NOT_AVAILABLE' END
  END AS due,
  CASE WHEN a.election = 'preferred' AND g.preferred_able THEN g.preferred END AS due_leader
FROM asked a
JOIN settled_groups g ON g.op = a.before_op AND g.topic = a.topic AND g.partition = a.partition
JOIN settled_changes c ON c.before_op = g.op AND c.topic = g.topic AND c.partition = g.partition
WHERE c.moves = 1 AND c.ended > a.began
  AND NOT EXISTS (SELECT 1 FROM broker_outages o WHERE o.clock = a.clock AND (
    (o.since >= g.ended AND o.since <= c.ended) OR (o.until >= g.ended AND o.until <= c.ended)))
