-- Each request that created a tiered topic, as far as is known: it may have done so without an answer.
-- computed once
SELECT op, topic, partition
FROM ops
WHERE f = 'create_topics' AND type <> 'fail' AND value LIKE '%"remote.storage.enable":"true"%'
