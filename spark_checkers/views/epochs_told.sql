-- Each leader epoch of a partition as all brokers told it at any time. `other_leader`: another leader
-- that was named in it.
SELECT min(op) AS op, clock, topic, partition, leader_epoch, min(began) AS began, max(answered) AS ended,
  min(leader) AS leader, CASE WHEN max(leader) <> min(leader) THEN max(leader) END AS other_leader,
  count(*) AS told
FROM partitions_told WHERE type = 'ok' AND leader >= 0
GROUP BY clock, topic, partition, leader_epoch
