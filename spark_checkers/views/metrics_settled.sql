-- The metrics of each node as they were read last in a phase in which the cluster was to settle, where all
-- brokers that are up said the same of all partitions. `broker`: its number; null for the controller.
-- computed once
WITH agreed AS (
  SELECT op, sum(CASE WHEN agreed THEN 0 ELSE 1 END) AS apart,
    sum(CASE WHEN agreed AND type = 'ok' THEN 1 ELSE 0 END) AS partitions,
    sum(CASE WHEN agreed AND type = 'ok' AND leader < 0 THEN 1 ELSE 0 END) AS leaderless
  FROM settled_partitions GROUP BY op
),
read AS (
  SELECT s.op, s.clock, s.began, s.ended, s.whole, s.bound_s, max(m.probe) AS probe
  FROM settle_looks s
  JOIN probes_metrics m ON m.clock = s.clock AND m.happened >= s.began AND m.happened <= s.ended
  WHERE s.phase = 'settle'
  GROUP BY s.op, s.clock, s.began, s.ended, s.whole, s.bound_s
)
SELECT r.op, r.clock, r.began, r.ended, r.whole, r.bound_s, CAST(NULL AS STRING) AS topic,
  CAST(NULL AS INT) AS partition, m.node_name,
  CASE WHEN m.node_name LIKE 'broker-%' THEN TRY_CAST(substr(m.node_name, 8) AS INT) END AS broker,
  max(CASE WHEN m.name = 'kafka_server_replicamanager_partitioncount' THEN m.value END) AS has,
  max(CASE WHEN m.name = 'kafka_server_replicamanager_leadercount' THEN m.value END) AS leads,
  max(CASE WHEN m.name = 'kafka_server_replicamanager_underreplicatedpartitions' THEN m.value END)
    AS under_replicated,
  max(CASE WHEN m.name = 'kafka_server_replicamanager_underminisrpartitioncount' THEN m.value END)
    AS under_min,
  max(CASE WHEN m.name = 'kafka_server_replicamanager_isrexpands_total' THEN m.value END) AS expansions,
  max(CASE WHEN m.name = 'kafka_server_replicamanager_isrshrinks_total' THEN m.value END) AS shrinks,
  max(CASE WHEN m.name = 'kafka_controller_kafkacontroller_activebrokercount' THEN m.value END) AS active,
  max(CASE WHEN m.name = 'kafka_controller_kafkacontroller_fencedbrokercount' THEN m.value END) AS fenced,
  max(CASE WHEN m.name = 'kafka_controller_kafkacontroller_offlinepartitionscount' THEN m.value END)
    AS offline,
  max(CASE WHEN m.name = 'kafka_controller_kafkacontroller_globalpartitioncount' THEN m.value END)
    AS all_partitions,
  a.partitions AS told_partitions, a.leaderless AS told_leaderless
FROM read r
JOIN agreed a ON a.op = r.op AND a.apart = 0
JOIN probes_metrics m ON m.probe = r.probe AND m.node_name IS NOT NULL
GROUP BY r.op, r.clock, r.began, r.ended, r.whole, r.bound_s, m.node_name, a.partitions, a.leaderless
