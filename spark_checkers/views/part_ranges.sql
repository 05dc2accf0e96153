-- Each fetch that was refused as out of range, with what the same replica showed in the same stretch of
-- time in which the assumptions held (`span`): the highest end before the fetch began, and the lowest log
-- start in answers that began after the refusal. What a replica has shown as committed is never cut
-- off, whoever leads, and its log start only rises: an offset between them was in range all the time.
WITH asked AS (
  SELECT a.op, a.topic, a.partition, a.clock, a.node, a.current_leader_epoch AS epoch,
    a.asked_offset, a.began, a.answered, a.type = 'ok' AS served, a.log_start_offset,
    CASE WHEN a.high_watermark >= 0 THEN a.high_watermark ELSE a.last_offset + 1 END AS reach,
    coalesce(s.after, 0) AS span
  FROM responses a
  JOIN (
    SELECT DISTINCT topic, partition FROM responses
    WHERE f = 'fetch' AND error = 'OFFSET_OUT_OF_RANGE'
  ) l ON a.topic = l.topic AND a.partition = l.partition
  LEFT JOIN spans_unbroken s ON s.kind = 'running' AND a.clock = s.clock AND a.began > s.after
    AND a.answered < s.before
  LEFT JOIN clocks_with_windows b ON a.clock = b.clock
  WHERE a.f = 'fetch' AND a.answered IS NOT NULL AND a.node IS NOT NULL
    AND (a.type = 'ok' OR a.error = 'OFFSET_OUT_OF_RANGE')
    AND (s.clock IS NOT NULL OR b.clock IS NULL)
),
moments AS (
  SELECT topic, partition, clock, node, span, began AS moment, 0 AS turn, 'before' AS kind, op,
    CAST(NULL AS BIGINT) AS reach, CAST(NULL AS BIGINT) AS log_start
  FROM asked WHERE NOT served
  UNION ALL
  SELECT topic, partition, clock, node, span, answered, 0, 'after', op, NULL, NULL
  FROM asked WHERE NOT served
  UNION ALL
  SELECT topic, partition, clock, node, span, answered, 1, 'fact', op, reach, NULL
  FROM asked WHERE served
  UNION ALL
  SELECT topic, partition, clock, node, span, began, -1, 'later', op, NULL, log_start_offset
  FROM asked WHERE served
),
known AS (
  SELECT op, kind, min(moment) OVER life AS since, max(moment) OVER life AS until,
    max(reach) OVER (PARTITION BY topic, partition, clock, node, span
      ORDER BY moment, turn, op, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reach,
    min(log_start) OVER (PARTITION BY topic, partition, clock, node, span
      ORDER BY moment DESC, turn DESC, op DESC, kind ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
      AS log_start
  FROM moments
  WINDOW life AS (PARTITION BY topic, partition, clock, node, span)
)
SELECT r.op, r.topic, r.partition, r.node, r.epoch, r.asked_offset, b.reach, a.log_start, r.clock,
  b.since AS began, b.until AS ended
FROM asked r
JOIN known b ON r.op = b.op AND b.kind = 'before'
JOIN known a ON r.op = a.op AND a.kind = 'after'
WHERE NOT r.served
