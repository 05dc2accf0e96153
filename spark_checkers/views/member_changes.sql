-- Each broker named for a partition in one of two settled looks that follow each other. `was_*`: before;
-- `fell`: it went down in between and is down; `lost`: it came back in between without having been
-- stopped in good order; `events`: how often members of the partition went down or came back in between.
-- computed once
WITH named AS (
  SELECT c.op, c.topic, c.partition, m.broker, m.place, m.in_isr, m.in_elr, m.last_known, m.leads, m.up,
    m.down, FALSE AS was
  FROM settled_changes c
  JOIN settled_members m ON m.op = c.op AND m.topic = c.topic AND m.partition = c.partition
  UNION ALL
  SELECT c.op, c.topic, c.partition, m.broker, m.place, m.in_isr, m.in_elr, m.last_known, m.leads, m.up,
    m.down, TRUE
  FROM settled_changes c
  JOIN settled_members m ON m.op = c.before_op AND m.topic = c.topic AND m.partition = c.partition
),
both_looks AS (
  SELECT op, topic, partition, broker, max(CASE WHEN NOT was THEN place END) AS place,
    max(CASE WHEN was THEN place END) AS was_place,
    coalesce(max(CASE WHEN NOT was AND in_isr THEN 1 END), 0) = 1 AS in_isr,
    coalesce(max(CASE WHEN was AND in_isr THEN 1 END), 0) = 1 AS was_in_isr,
    coalesce(max(CASE WHEN NOT was AND in_elr THEN 1 END), 0) = 1 AS in_elr,
    coalesce(max(CASE WHEN was AND in_elr THEN 1 END), 0) = 1 AS was_in_elr,
    coalesce(max(CASE WHEN was AND last_known THEN 1 END), 0) = 1 AS was_last_known,
    coalesce(max(CASE WHEN NOT was AND leads THEN 1 END), 0) = 1 AS leads,
    coalesce(max(CASE WHEN was AND leads THEN 1 END), 0) = 1 AS was_leader,
    coalesce(max(CASE WHEN NOT was AND up THEN 1 END), 0) = 1 AS up,
    coalesce(max(CASE WHEN NOT was AND down THEN 1 END), 0) = 1 AS down,
    coalesce(max(CASE WHEN was AND up THEN 1 END), 0) = 1 AS was_up
  FROM named GROUP BY op, topic, partition, broker
),
touched AS (
  SELECT b.op, c.clock, c.began, c.ended, b.topic, b.partition, b.broker, b.place, b.was_place, b.in_isr,
    b.was_in_isr, b.in_elr, b.was_in_elr, b.was_last_known, b.leads, b.was_leader, b.up, b.down, b.was_up,
    c.isr_count, c.least_min, c.moves, c.settings, c.isr, c.elr, c.before_isr, c.before_elr,
    coalesce(max(CASE WHEN o.until <= c.since AND NOT o.clean THEN 1 ELSE 0 END), 0) = 1 AS lost,
    coalesce(max(CASE WHEN o.since >= c.began AND b.down THEN 1 ELSE 0 END), 0) = 1 AS fell,
    coalesce(sum(CASE WHEN o.since >= c.began THEN 1 ELSE 0 END
      + CASE WHEN o.until <= c.since THEN 1 ELSE 0 END), 0) AS times
  FROM both_looks b
  JOIN settled_changes c ON c.op = b.op AND c.topic = b.topic AND c.partition = b.partition
  LEFT JOIN broker_outages o ON o.clock = c.clock AND o.broker = b.broker AND o.since <= c.ended
    AND o.until >= c.began
  GROUP BY b.op, c.clock, c.began, c.ended, b.topic, b.partition, b.broker, b.place, b.was_place, b.in_isr,
    b.was_in_isr, b.in_elr, b.was_in_elr, b.was_last_known, b.leads, b.was_leader, b.up, b.down, b.was_up,
    c.isr_count, c.least_min, c.moves, c.settings, c.isr, c.elr, c.before_isr, c.before_elr
)
SELECT touched.*, sum(times) OVER (PARTITION BY op, topic, partition) AS events
FROM touched
