-- Each partition in a look right after a broker was stopped in good order, as each broker sees it, with
-- who led it in the settled look before. `others`: members of the ISR before that no fault touches.
WITH stopped AS (
  SELECT l.op, l.clock, l.began, l.ended, o.broker, o.since, max(s.op) AS before_op
  FROM settle_looks l
  JOIN broker_outages o ON o.clock = l.clock AND o.clean AND o.since < l.began AND o.until >= l.ended
  JOIN settle_looks s ON s.clock = l.clock AND s.ended < o.since AND s.phase = 'settle'
  WHERE l.phase = 'look' AND NOT EXISTS (SELECT 1 FROM settle_looks x WHERE x.clock = l.clock
    AND x.began > o.since AND x.ended < l.began)
  GROUP BY l.op, l.clock, l.began, l.ended, o.broker, o.since
),
others AS (
  SELECT m.op, m.topic, m.partition, s.op AS look_op, sum(CASE WHEN m.in_isr AND m.up AND m.broker <> s.broker
    THEN 1 ELSE 0 END) AS others, max(CASE WHEN m.leads AND m.broker = s.broker THEN 1 ELSE 0 END) = 1 AS led
  FROM stopped s
  JOIN settled_members m ON m.op = s.before_op
  GROUP BY m.op, m.topic, m.partition, s.op
)
SELECT s.op, s.clock, s.began, s.ended, t.topic, t.partition, t.node, t.leader, t.isr, s.broker, o.others, o.led
FROM stopped s
JOIN settled_told t ON t.op = s.op AND t.type = 'ok'
JOIN others o ON o.look_op = s.op AND o.topic = t.topic AND o.partition = t.partition
