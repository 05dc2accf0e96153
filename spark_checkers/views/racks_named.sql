-- Each rack that readers at the end of a log named to its leader in one epoch, several times, with a look at
-- who is in sync before and after each of them. `near`: a replica there that is in sync in every look,
-- and not the leader; `there`: whether any replica is in that rack. `sent`, `served`: how many readers were
-- named another replica, or were answered without one. The first of them shows how far all in-sync
-- replicas are.
WITH asked AS (
  SELECT op, topic, partition, clock, node, began, ended, rack, node_rack, current_leader_epoch, error,
    sent_to, type
  FROM fetches_by_rack
  WHERE current_leader_epoch IS NOT NULL
    AND (type = 'ok' AND asked_offset = high_watermark OR error = 'UNKNOWN_SERVER_ERROR')
),
looks AS (
  SELECT a.op, l.op AS look, l.leader, l.leader_epoch, l.isr, l.replicas,
    row_number() OVER (PARTITION BY a.op, l.answered <= a.began
      ORDER BY abs(l.began - a.began), l.op) AS nth
  FROM asked a
  JOIN leaders_told l ON a.topic = l.topic AND a.partition = l.partition AND a.clock = l.clock
    AND a.node = l.node AND l.type = 'ok' AND (l.answered <= a.began OR l.began >= a.ended)
),
led AS (
  SELECT a.op, min(l.isr) AS isr, max(l.isr) AS other_isr, min(l.replicas) AS replicas
  FROM asked a
  JOIN looks l ON a.op = l.op AND l.nth = 1
  WHERE l.leader = a.node AND l.leader_epoch = a.current_leader_epoch AND l.replicas IS NOT NULL
  GROUP BY a.op
  HAVING count(*) = 2
),
brokers AS (
  SELECT clock, broker, min(rack) AS rack FROM brokers_told
  GROUP BY clock, broker
  HAVING min(coalesce(rack, '')) = max(coalesce(rack, ''))
),
tried AS (
  SELECT a.op, a.topic, a.partition, a.clock, a.node, a.rack, a.node_rack, a.current_leader_epoch,
    min(a.began) AS began, min(a.ended) AS ended, min(a.type) AS type, min(a.error) AS error,
    min(a.sent_to) AS sent_to,
    min(CASE WHEN b.broker <> a.node AND l.isr LIKE '%,' || b.broker || ',%'
      AND l.other_isr LIKE '%,' || b.broker || ',%' THEN b.broker END) AS near,
    max(CASE WHEN l.replicas LIKE '%,' || b.broker || ',%' THEN 1 ELSE 0 END) AS there
  FROM asked a
  JOIN led l ON a.op = l.op
  LEFT JOIN brokers b ON a.clock = b.clock AND a.rack = b.rack
  GROUP BY a.op, a.topic, a.partition, a.clock, a.node, a.rack, a.node_rack, a.current_leader_epoch
)
SELECT min(op) AS op, topic, partition, clock, node, rack, node_rack, current_leader_epoch,
  min(began) AS began, max(ended) AS ended, count(*) AS tries, count(sent_to) AS sent,
  sum(CASE WHEN type = 'ok' AND sent_to IS NULL THEN 1 ELSE 0 END) AS served,
  max(CASE WHEN type <> 'ok' THEN error END) AS last_error,
  CASE WHEN count(near) = count(*) THEN min(near) END AS near, max(there) = 1 AS there
FROM tried
GROUP BY topic, partition, clock, node, rack, node_rack, current_leader_epoch
