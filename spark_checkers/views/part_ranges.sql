-- Each fetch that was refused as out of range, with what the same replica showed in the same leader
-- epoch: the highest end before the fetch began, and the lowest log start in answers that began after
-- the refusal. As both only rise, an offset between them was in range all the time.
WITH refused AS (
  SELECT op, topic, partition, clock, node, current_leader_epoch AS epoch, asked_offset, began, answered
  FROM responses
  WHERE f = 'fetch' AND error = 'OFFSET_OUT_OF_RANGE' AND answered IS NOT NULL
    AND current_leader_epoch IS NOT NULL
),
moments AS (
  SELECT topic, partition, clock, node, epoch, began AS moment, 0 AS turn, 'before' AS kind, op,
    CAST(NULL AS BIGINT) AS reach, CAST(NULL AS BIGINT) AS log_start
  FROM refused
  UNION ALL
  SELECT topic, partition, clock, node, epoch, answered, 0, 'after', op, NULL, NULL FROM refused
  UNION ALL
  SELECT a.topic, a.partition, a.clock, a.node, a.current_leader_epoch, a.answered, 1, 'fact', a.op,
    greatest(coalesce(a.high_watermark, -1), coalesce(a.last_offset + 1, -1)), NULL
  FROM responses a
  JOIN (SELECT DISTINCT topic, partition FROM refused) l
    ON a.topic = l.topic AND a.partition = l.partition
  WHERE a.f = 'fetch' AND a.type = 'ok'
  UNION ALL
  SELECT a.topic, a.partition, a.clock, a.node, a.current_leader_epoch, a.began, -1, 'later', a.op,
    NULL, a.log_start_offset
  FROM responses a
  JOIN (SELECT DISTINCT topic, partition FROM refused) l
    ON a.topic = l.topic AND a.partition = l.partition
  WHERE a.f = 'fetch' AND a.type = 'ok'
),
known AS (
  SELECT op, kind, min(moment) OVER life AS since, max(moment) OVER life AS until,
    max(reach) OVER (PARTITION BY topic, partition, clock, node, epoch
      ORDER BY moment, turn, op, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reach,
    min(log_start) OVER (PARTITION BY topic, partition, clock, node, epoch
      ORDER BY moment DESC, turn DESC, op DESC, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      AS log_start
  FROM moments
  WINDOW life AS (PARTITION BY topic, partition, clock, node, epoch)
)
SELECT r.op, r.topic, r.partition, r.node, r.epoch, r.asked_offset, b.reach, a.log_start, r.clock,
  b.since AS began, b.until AS ended
FROM refused r
JOIN known b ON r.op = b.op AND b.kind = 'before'
JOIN known a ON r.op = a.op AND a.kind = 'after'
