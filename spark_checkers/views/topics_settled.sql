-- Each partition in the last look of a phase, with whether its topic is there by the last request that
-- created or deleted it, and with the id that was answered; `partitions`: how many it has to have.
WITH lives AS (
  SELECT clock, topic, min(op) AS op, min(CASE WHEN f = 'create_topics' THEN ended END) AS created,
    min(CASE WHEN f = 'create_topics' THEN topic_id END) AS topic_id,
    min(CASE WHEN f = 'delete_topics' THEN began END) AS deletion,
    min(CASE WHEN f = 'delete_topics' AND type = 'ok' THEN ended END) AS deleted
  FROM admin_ops WHERE f IN ('create_topics', 'delete_topics') AND type <> 'fail'
  GROUP BY clock, topic
)
SELECT t.op, t.clock, t.began, t.ended, t.whole, t.bound_s, t.topic, t.partition, t.node, t.type, t.error,
  t.topic_id, l.topic_id AS answered_id, coalesce(l.deleted < t.began, FALSE) AS gone
FROM settled_told t
JOIN lives l ON l.clock = t.clock AND l.topic = t.topic
WHERE t.phase = 'settle' AND l.created < t.began AND (l.deletion IS NULL OR l.deleted < t.began)
