-- Each transaction: an operation that sends or polls. `vertex` names it in the graph of dependencies:
-- its completion, or its invocation if it has none. Only an ok transaction is known to be over.
SELECT coalesce(completion, op) AS vertex, op, process, type, clock, began,
  CASE WHEN type = 'ok' THEN ended END AS ended
FROM ops WHERE f IN ('send', 'poll', 'txn')
