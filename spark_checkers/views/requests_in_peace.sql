-- What became of one kind of request about a partition while everything was healed: of `f`, to the broker
-- `node` where any broker answers and to whoever leads otherwise, of one `acks`; and of a send that was
-- tried again. `unanswered_*`: since the last answer; `refused_*`: since the last success, where the
-- error says nothing against the request itself (of a send that is tried again: any error). A broker that
-- does not lead may refuse a fetch. An answer that cannot be read is neither a refusal nor a success.
WITH asked AS (
  SELECT p.index, p.bound_ns, o.op, o.topic, o.partition, o.clock, o.f, o.began, o.answered, o.error,
    o.invoked_ns, o.completed_ns, CASE WHEN o.f IN ('fetch', 'metadata') THEN o.node END AS node,
    o.type = 'ok' AS done, o.type = 'ok' OR o.error IS NOT NULL AS told
  FROM phases_in_peace p
  JOIN ops o ON o.clock = p.clock AND o.began >= p.since AND o.answered <= p.until
  WHERE p.phase IN ('converge', 'progress', 'asked-again') AND o.topic IS NOT NULL AND o.partition IS NOT NULL
),
sent AS (
  SELECT a.index, a.bound_ns, a.op, a.topic, a.partition, a.clock, a.f, a.began, a.answered, a.error,
    a.invoked_ns, a.completed_ns, a.node, a.done, a.told, r.acks, r.send, r.attempt
  FROM asked a
  LEFT JOIN responses r ON r.op = a.op AND a.f = 'produce'
),
kinds AS (
  SELECT index, bound_ns, op, topic, partition, clock, f, began, answered, error, invoked_ns,
    completed_ns, coalesce(node, -1) AS place, done, told, coalesce(acks, 0) AS acks, '' AS about,
    NOT done AND error NOT IN ('UNREADABLE_ANSWER', 'CORRUPT_MESSAGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP',
      'MESSAGE_TOO_LARGE', 'OFFSET_OUT_OF_RANGE', 'OUT_OF_ORDER_SEQUENCE_NUMBER',
      'DUPLICATE_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID', 'INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED',
      'TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED', 'POLICY_VIOLATION')
      AND NOT (f = 'fetch' AND error = 'NOT_LEADER_OR_FOLLOWER') AS refused
  FROM sent
  UNION ALL
  SELECT index, bound_ns, op, topic, partition, clock, f, began, answered, error, invoked_ns,
    completed_ns, -1, done, told, acks, send, NOT done AND error <> 'UNREADABLE_ANSWER'
  FROM sent WHERE attempt > 1
),
lasts AS (
  SELECT kinds.*, coalesce(max(CASE WHEN told THEN began END) OVER kind, -1) AS last_told,
    coalesce(max(CASE WHEN told AND NOT refused AND (done OR error <> 'UNREADABLE_ANSWER')
      THEN began END) OVER kind, -1) AS last_done
  FROM kinds
  WINDOW kind AS (PARTITION BY index, topic, partition, f, place, acks, about)
)
SELECT min(op) AS op, topic, partition, clock, min(began) AS began, max(answered) AS ended, f, bound_ns,
  CASE WHEN place >= 0 THEN place END AS node, CASE WHEN f = 'produce' THEN acks END AS acks,
  CASE WHEN about <> '' THEN about END AS send, count(*) AS requests,
  sum(CASE WHEN began > last_told THEN 1 ELSE 0 END) AS unanswered,
  coalesce(max(CASE WHEN began > last_told THEN completed_ns END)
    - min(CASE WHEN began > last_told THEN invoked_ns END), 0) AS unanswered_ns,
  sum(CASE WHEN began > last_done AND refused THEN 1 ELSE 0 END) AS refusals,
  coalesce(max(CASE WHEN began > last_done AND refused THEN completed_ns END)
    - min(CASE WHEN began > last_done AND refused THEN invoked_ns END), 0) AS refused_ns,
  max(CASE WHEN began > last_done AND refused THEN error END) AS refused_with,
  bound_ns / 1000000000 AS bound_s
FROM lasts
GROUP BY index, topic, partition, clock, f, place, acks, about, bound_ns
