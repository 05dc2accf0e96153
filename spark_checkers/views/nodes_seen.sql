-- Each node of each look at the processes of a cluster.
SELECT probe AS op, CAST(NULL AS STRING) AS topic, CAST(NULL AS INT) AS partition, clock,
  happened AS began, happened AS ended, node_name, state, exit_code, on_purpose
FROM probes_nodes
