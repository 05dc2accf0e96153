-- What was set for a topic and since when: every request that creates or configures it. `until`: the
-- next of them begins. A request whose outcome is unknown sets nothing that is known.
-- complete within the topic
-- computed once
SELECT op, clock, topic, type, began, coalesce(ended, 9223372036854775807) AS since,
  coalesce(lead(began) OVER (PARTITION BY clock, topic ORDER BY op), 9223372036854775807) AS until,
  min_insync_replicas, unclean, f, topic_id
FROM admin_ops
WHERE f IN ('create_topics', 'incremental_alter_configs') AND type <> 'fail'
