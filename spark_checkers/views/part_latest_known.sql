-- Each search by timestamp with the latest record that was known when it began (`stamp`,
-- `record_offset`, known `since`), if the node that searched still had it afterwards: a log start that
-- this node showed later is not beyond it.
WITH known AS (
  SELECT op, max(latest) OVER (PARTITION BY log ORDER BY moment, turn, op
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS latest
  FROM (
    SELECT log, since AS moment, 1 AS turn, CAST(NULL AS BIGINT) AS op,
      lpad(CAST(stamp AS STRING), 20, '0') || lpad(CAST(record_offset AS STRING), 20, '0')
        || lpad(CAST(since AS STRING), 20, '0') AS latest
    FROM part_stamped WHERE since IS NOT NULL AND stamp >= 0
    UNION ALL
    SELECT log, began, 0, op, NULL FROM part_searches
  ) records
),
kept AS (
  SELECT op, min(log_start) OVER (PARTITION BY log, node ORDER BY moment DESC, turn, op
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS log_start
  FROM (
    SELECT l.log, p.node, p.began AS moment, 1 AS turn, CAST(NULL AS BIGINT) AS op,
      p.start_told AS log_start
    FROM part_answers p
    JOIN part_stamp_logs l ON p.topic = l.topic AND p.partition = l.partition AND p.clock = l.clock
      AND p.began > l.after AND p.answered < l.before
    WHERE p.start_told >= 0 AND p.node IS NOT NULL
    UNION ALL
    SELECT log, node, answered, 0, op, NULL FROM part_searches WHERE node IS NOT NULL
  ) starts
),
found AS (
  SELECT k.op, s.log_start, CAST(substr(k.latest, 1, 20) AS BIGINT) AS stamp,
    CAST(substr(k.latest, 21, 20) AS BIGINT) AS record_offset,
    CAST(substr(k.latest, 41, 20) AS BIGINT) AS since
  FROM known k
  JOIN kept s ON k.op = s.op
  WHERE k.op IS NOT NULL AND k.latest IS NOT NULL
)
SELECT op, stamp, record_offset, since FROM found WHERE record_offset >= log_start
