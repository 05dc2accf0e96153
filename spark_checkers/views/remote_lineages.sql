-- Each record that a fetch was served, with what the same replica says of epochs under the same leader
-- epoch: `epoch_end`, the end of the record's epoch (null for that of the leader itself, which grows),
-- `named_epoch`, the epoch that was named in its place, and `earlier_end`, the end of the latest of the
-- earlier epochs that it was asked about.
WITH told AS (
  SELECT topic, partition, clock, node, current_leader_epoch AS leader_epoch, asked_epoch,
    max(leader_epoch) AS named_epoch,
    max(CASE WHEN asked_epoch < current_leader_epoch THEN answered_offset END) AS epoch_end
  FROM responses
  WHERE f = 'offset_for_leader_epoch' AND type = 'ok' AND current_leader_epoch IS NOT NULL
    AND asked_epoch >= 0 AND answered_offset >= 0
  GROUP BY topic, partition, clock, node, current_leader_epoch, asked_epoch
),
seen AS (
  SELECT r.op, s.topic, s.partition, s.clock, s.node, r.current_leader_epoch, s.record_offset, s.value,
    s.leader_epoch, s.began, s.answered
  FROM records_seen s
  JOIN responses r ON s.op = r.op
  WHERE r.f = 'fetch' AND r.current_leader_epoch IS NOT NULL AND s.leader_epoch IS NOT NULL
),
earlier AS (
  SELECT s.op, s.record_offset, max(t.epoch_end) AS earlier_end
  FROM seen s
  JOIN told t ON s.topic = t.topic AND s.partition = t.partition AND s.clock = t.clock
    AND s.node = t.node AND s.current_leader_epoch = t.leader_epoch AND t.asked_epoch < s.leader_epoch
  GROUP BY s.op, s.record_offset
)
SELECT s.op, s.topic, s.partition, s.clock, s.node, s.began, s.answered AS ended, s.record_offset, s.value,
  s.leader_epoch, t.named_epoch, t.epoch_end, e.earlier_end
FROM seen s
JOIN told t ON s.topic = t.topic AND s.partition = t.partition AND s.clock = t.clock AND s.node = t.node
  AND s.current_leader_epoch = t.leader_epoch AND s.leader_epoch = t.asked_epoch
LEFT JOIN earlier e ON s.op = e.op AND s.record_offset = e.record_offset
