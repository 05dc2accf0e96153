-- Each answer to a search by timestamp that names an offset at which a record was read, with what that
-- record says: its timestamp and its leader epoch, where all who read it agree.
SELECT a.op, a.topic, a.partition, a.clock, a.node, a.asked_timestamp, a.answered_offset,
  a.found_timestamp, a.leader_epoch AS found_epoch, s.timestamp, s.leader_epoch,
  least(a.began, s.began) AS began, greatest(a.answered, s.answered) AS ended
FROM offsets_listed a
JOIN (
  SELECT topic, partition, record_offset, min(timestamp) AS timestamp, min(leader_epoch) AS leader_epoch,
    min(began) AS began, max(answered) AS answered
  FROM records_seen
  WHERE f = 'fetch'
  GROUP BY topic, partition, record_offset
  HAVING min(timestamp) = max(timestamp)
    AND coalesce(min(leader_epoch), -1) = coalesce(max(leader_epoch), -1) AND min(clock) = max(clock)
) s ON a.topic = s.topic AND a.partition = s.partition AND a.answered_offset = s.record_offset
WHERE a.type = 'ok' AND (a.asked_timestamp >= 0 OR a.asked_timestamp = -3)
