-- Each transactional id in a phase in which all transactions are to come to their end: the state that its
-- coordinator told last.
WITH told AS (
  SELECT p.index, p.clock, p.since, p.until, p.bound_ns, p.lasted_ns, t.op, t.transactional_id, t.state,
    row_number() OVER (PARTITION BY p.index, t.transactional_id ORDER BY t.began DESC, t.op DESC) AS back,
    count(*) OVER (PARTITION BY p.index, t.transactional_id) AS tries
  FROM phases_in_peace p
  JOIN transactions_told t ON t.clock = p.clock AND t.began >= p.since AND t.answered <= p.until
  WHERE p.phase = 'transactions-rest' AND t.type = 'ok' AND t.transactional_id IS NOT NULL
)
SELECT op, NULL AS topic, NULL AS partition, clock, since AS began, until AS ended, bound_ns, lasted_ns,
  bound_ns / 1000000000 AS bound_s, transactional_id, state, tries
FROM told WHERE back = 1
