-- Each answer that names the end of a leader epoch, against the epochs of records that were read.
-- `last_within` is the last offset of the epochs up to the one answered. Of later epochs only those count
-- that were in the log of the node that answered (the end of an epoch that lies below the log start is
-- the log start): not below a start that this node showed later, nor below any shown before. `skipped_epoch` is one, not beyond the one asked about, that has records, and
-- `later_first` their first offset.
WITH marks AS (
  SELECT topic, partition, clock, node, began AS moment, 1 AS turn, CAST(NULL AS BIGINT) AS op,
    CASE WHEN start_told >= 0 THEN start_told END AS shown,
    coalesce(start_told, CASE WHEN f = 'delete_records' THEN log_start_offset END) AS reached
  FROM part_answers p
  WHERE EXISTS (
    SELECT 1 FROM responses r WHERE r.f = 'offset_for_leader_epoch' AND r.type = 'ok'
      AND r.topic = p.topic AND r.partition = p.partition)
  UNION ALL
  SELECT topic, partition, clock, node, answered, 0, op, NULL, NULL FROM responses
  WHERE f = 'offset_for_leader_epoch' AND type = 'ok'
),
starts AS (
  SELECT op, min(shown) OVER (PARTITION BY topic, partition, clock, node
      ORDER BY moment DESC, turn, op ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS shown_after,
    max(reached) OVER (PARTITION BY topic, partition, clock ORDER BY moment, turn DESC, op
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reached_before
  FROM marks
),
epochs AS (
  SELECT a.op, a.topic, a.partition, a.node, a.asked_epoch, a.leader_epoch, a.current_leader_epoch,
    a.answered_offset, a.clock, a.began AS asked_at, a.answered, e.epoch, e.first_offset, e.last_offset,
    e.began, e.ended, s.log_start, coalesce(e.last_offset >= s.log_start, FALSE) AS stayed
  FROM responses a
  JOIN part_epochs e ON a.topic = e.topic AND a.partition = e.partition
  LEFT JOIN (
    SELECT op, greatest(shown_after, reached_before) AS log_start FROM starts
    WHERE op IS NOT NULL AND shown_after IS NOT NULL
  ) s ON a.op = s.op
  WHERE a.f = 'offset_for_leader_epoch' AND a.type = 'ok' AND a.answered_offset >= 0
    AND a.current_leader_epoch IS NOT NULL AND e.first_offset IS NOT NULL
)
SELECT op, topic, partition, node, asked_epoch, leader_epoch, current_leader_epoch, answered_offset,
  clock, least(asked_at, min(began)) AS began, greatest(answered, max(ended)) AS ended,
  min(CASE WHEN epoch > leader_epoch AND epoch <= asked_epoch AND epoch <= current_leader_epoch
    THEN epoch END) AS skipped_epoch,
  min(CASE WHEN epoch > leader_epoch THEN greatest(first_offset, log_start) END) AS later_first,
  max(CASE WHEN epoch <= leader_epoch THEN last_offset END) AS last_within
FROM epochs
WHERE stayed OR epoch <= leader_epoch
GROUP BY op, topic, partition, node, asked_epoch, leader_epoch, current_leader_epoch, answered_offset,
  clock, asked_at, answered
