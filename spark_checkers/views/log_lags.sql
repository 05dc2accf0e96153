-- How far behind real time each ok poll was, for each log its process was reading: the time from the
-- moment when a record was known to stand above everything that the process had seen of the log, to
-- the invocation of the poll; 0 if no such record was known. `epoch` counts the assignments of the
-- process so far; one that does not name a log, and every subscription, makes the process forget
-- where it was in it (`drops`).
-- complete within the history
WITH changes AS (
  SELECT process, completion, f,
    row_number() OVER (PARTITION BY process ORDER BY completion) AS number
  FROM (
    SELECT DISTINCT process, completion, f FROM assignments
    WHERE type = 'ok' AND f IN ('assign', 'subscribe')
  ) effective
),
named AS (
  SELECT DISTINCT c.process, c.completion, c.number, a.topic, a.partition
  FROM changes c JOIN assignments a ON c.process = a.process AND c.completion = a.completion
  WHERE a.f = 'assign' AND a.topic IS NOT NULL
),
polls AS (
  SELECT op, process, completion, invoked_ns, sum(change) OVER (
      PARTITION BY process ORDER BY completion
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS epoch
  FROM (
    SELECT op, process, completion, invoked_ns, 0 AS change FROM ops
    WHERE type = 'ok' AND f IN ('poll', 'txn')
    UNION ALL
    SELECT NULL, process, completion, NULL, 1 FROM changes
  ) both_kinds
),
known AS (
  SELECT op, completion, topic, partition, type, f, coalesce(max(record_offset), -1) AS highest
  FROM (
    SELECT op, completion, topic, partition, type, f, last_offset AS record_offset FROM responses
    WHERE f IN ('poll', 'txn')
    UNION ALL
    SELECT op, completion, topic, partition, type, f, record_offset FROM records_seen
    WHERE f IN ('poll', 'txn')
    UNION ALL
    SELECT op, completion, topic, partition, type, f, record_offset FROM records_sent
    WHERE f IN ('send', 'txn') AND record_offset IS NOT NULL
  ) offsets
  WHERE type <> 'fail' AND completion IS NOT NULL
  GROUP BY op, completion, topic, partition, type, f
),
touched AS (
  SELECT p.process, p.epoch, p.completion, k.topic, k.partition, k.highest
  FROM polls p JOIN known k ON p.op = k.op
),
reading AS (
  SELECT p.op, p.process, p.epoch, p.completion, p.invoked_ns, n.topic, n.partition
  FROM polls p JOIN named n ON p.process = n.process AND p.epoch = n.number
  WHERE p.op IS NOT NULL
  UNION ALL
  SELECT p.op, p.process, p.epoch, p.completion, p.invoked_ns, t.topic, t.partition
  FROM polls p
  JOIN (
    SELECT t.process, t.epoch, t.topic, t.partition, min(t.completion) AS since FROM touched t
    LEFT JOIN named n ON t.process = n.process AND t.epoch = n.number AND t.topic = n.topic
      AND t.partition = n.partition
    WHERE n.number IS NULL
    GROUP BY t.process, t.epoch, t.topic, t.partition
  ) t ON p.process = t.process AND p.epoch = t.epoch AND p.completion >= t.since
  WHERE p.op IS NOT NULL
),
timeline AS (
  SELECT 1 AS turn, CAST(NULL AS BIGINT) AS op, process, epoch, completion,
    CAST(NULL AS BIGINT) AS invoked_ns, topic, partition, highest, 0 AS keep
  FROM touched
  UNION ALL
  SELECT 2, op, process, epoch, completion, invoked_ns, topic, partition, -1, 0 FROM reading
  UNION ALL
  SELECT 0, NULL, process, number, completion, NULL, topic, partition, NULL, 1 FROM named
),
dropped AS (
  SELECT *, epoch - sum(keep) OVER (
      PARTITION BY process, topic, partition ORDER BY completion, turn
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS drops
  FROM timeline
),
placed AS (
  SELECT *, max(highest) OVER (
      PARTITION BY process, topic, partition, drops ORDER BY completion, turn
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reached
  FROM dropped
),
expiries AS (
  SELECT op, process, completion, invoked_ns, topic, partition, reached,
    min(known_ns) OVER (PARTITION BY topic, partition ORDER BY above DESC, turn, op
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS expired_ns
  FROM (
    SELECT turn, op, process, completion, invoked_ns, topic, partition, reached,
      CASE WHEN reached < 9223372036854775807 THEN reached + 1 ELSE reached END AS above, CAST(NULL AS BIGINT) AS known_ns
    FROM placed WHERE turn = 2
    UNION ALL
    SELECT 0, k.op, NULL, k.completion, NULL, k.topic, k.partition, NULL, k.highest, o.completed_ns
    FROM known k JOIN ops o ON k.op = o.op
    WHERE k.highest >= 0
  ) instants
)
SELECT op, completion, process, topic, partition, reached, invoked_ns,
  CASE WHEN expired_ns IS NULL OR expired_ns >= invoked_ns THEN 0
    WHEN invoked_ns >= 0 AND expired_ns < invoked_ns - 9223372036854775807 THEN 9223372036854775807
    ELSE invoked_ns - expired_ns END AS lag_ns
FROM expiries WHERE process IS NOT NULL
