-- Each answered fetch of a reader that names its rack, at a broker that is known to look for replicas near
-- its readers. `node_rack`, `sent_to_rack`: the racks of the broker that was asked and of the one that
-- it names instead, `sent_to`; null where a broker was said to be in several.
-- complete within the partition: settings of a broker are about no log
WITH selecting AS (
  SELECT DISTINCT clock, node FROM ops
  WHERE f = 'describe_configs' AND topic IS NULL AND type = 'ok' AND result LIKE
    '%"replica.selector.class":"org.apache.kafka.common.replica.RackAwareReplicaSelector"%'
),
racks AS (
  SELECT clock, broker, min(rack) AS rack FROM brokers_told
  GROUP BY clock, broker
  HAVING min(coalesce(rack, '')) = max(coalesce(rack, ''))
)
SELECT r.op, r.topic, r.partition, r.clock, r.node, r.began, r.answered AS ended, r.type, r.error, r.rack,
  r.asked_offset, r.high_watermark, r.current_leader_epoch, n.rack AS node_rack,
  CASE WHEN r.preferred_read_replica >= 0 THEN r.preferred_read_replica END AS sent_to,
  s.rack AS sent_to_rack
FROM responses r
JOIN selecting c ON r.clock = c.clock AND r.node = c.node
JOIN racks n ON r.clock = n.clock AND r.node = n.broker
LEFT JOIN racks s ON r.clock = s.clock AND r.preferred_read_replica = s.broker
WHERE r.f = 'fetch' AND r.answered IS NOT NULL AND r.rack <> '' AND n.rack IS NOT NULL
