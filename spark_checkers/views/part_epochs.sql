-- Each leader epoch of a log: where its records were read, who led it, how far its leaders showed the
-- log to be committed, and the same of all earlier epochs together. With clean elections an epoch
-- begins where its leader's log ended, so beyond everything that earlier epochs had committed.
-- computed once
WITH evidence AS (
  SELECT topic, partition, epoch, first_offset, last_offset, CAST(NULL AS BIGINT) AS committed_to,
    CAST(NULL AS BIGINT) AS latest, CAST(NULL AS BIGINT) AS least_leader,
    CAST(NULL AS BIGINT) AS greatest_leader, op, clock, began, answered AS ended
  FROM part_reads WHERE epoch >= 0
  UNION ALL
  SELECT topic, partition, current_leader_epoch, NULL, NULL,
    max(greatest(coalesce(high_watermark, -1), coalesce(last_offset + 1, -1))), NULL, NULL, NULL,
    min(op), clock, min(began), max(answered)
  FROM responses WHERE f = 'fetch' AND type = 'ok' AND current_leader_epoch >= 0
  GROUP BY topic, partition, current_leader_epoch, clock
  UNION ALL
  SELECT topic, partition, coalesce(leader_epoch, current_leader_epoch), NULL, NULL,
    max(answered_offset), min(CASE WHEN isolation = 'read_uncommitted' THEN answered_offset END),
    min(node), max(node), min(op), clock, min(began), max(answered)
  FROM responses
  WHERE f = 'list_offsets' AND type = 'ok' AND asked_timestamp = -1
    AND coalesce(leader_epoch, current_leader_epoch) >= 0
  GROUP BY topic, partition, coalesce(leader_epoch, current_leader_epoch), clock
),
epochs AS (
  SELECT topic, partition, epoch, min(first_offset) AS first_offset, max(last_offset) AS last_offset,
    max(committed_to) AS committed_to, min(latest) AS latest, min(least_leader) AS least_leader,
    max(greatest_leader) AS greatest_leader, min(op) AS op, min(clock) AS clock, min(began) AS began,
    max(ended) AS ended
  FROM evidence GROUP BY topic, partition, epoch
)
SELECT op, topic, partition, epoch, first_offset, last_offset, committed_to, latest, least_leader,
  greatest_leader, clock,
  max(last_offset) OVER earlier AS earlier_last_offset,
  max(committed_to) OVER earlier AS earlier_committed_to,
  least(began, coalesce(min(began) OVER earlier, began)) AS began,
  greatest(ended, coalesce(max(ended) OVER earlier, ended)) AS ended
FROM epochs
WINDOW earlier AS (PARTITION BY topic, partition ORDER BY epoch
  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
