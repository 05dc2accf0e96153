-- Each operation on a boundary, with what was certain before it began and what was possible while
-- it ran. A reply that ended strictly before an operation began is a fact for it; an attempt that
-- began before it ended, and did not definitely fail, may have taken effect before or during it.
-- `set_proven` is the boundary that the last accepted write left, else one that another accepted
-- call showed: what a refusal reports is judged, not believed. `set_contested` says that accepted
-- writes which ran together left several. `accepted_during` counts the other accepted writes that
-- ran together with the operation. `set_epoch` is the highest epoch that must have been in force
-- while the boundary was set, `set_told` the highest that was told then.
-- `unset_fence` is the highest epoch that any reply showed beside an unset boundary; without resets
-- whatever set the boundary came after that reply.
-- Logs whose operations carry more than one clock are left out: their order is not known.
-- computed once
WITH chained AS (
  SELECT topic, partition, op, began, ended, coalesce(stored_boundary, boundary) AS left_behind,
    CASE WHEN began <= max(ended) OVER (PARTITION BY topic, partition ORDER BY began, op
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) THEN 0 ELSE 1 END AS first_of_chain
  FROM boundary_ops
  WHERE type = 'ok' AND boundary >= 0
    AND f IN ('initialize_diskless_migration', 'set_diskless_log_start_offset')
),
chains AS (
  SELECT topic, partition, op, left_behind, sum(first_of_chain) OVER (
    PARTITION BY topic, partition ORDER BY began, op
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS chain
  FROM chained
),
accepted AS (
  SELECT topic, partition, op, left_behind,
    CASE WHEN min(left_behind) OVER together = max(left_behind) OVER together
      THEN '0' ELSE '1' END AS contested
  FROM chains
  WINDOW together AS (PARTITION BY topic, partition, chain)
),
judged AS (
  SELECT o.*, l.born, l.upgraded, a.left_behind, a.contested FROM boundary_ops o
  JOIN boundary_logs l ON o.topic = l.topic AND o.partition = l.partition
  LEFT JOIN accepted a ON o.topic = a.topic AND o.partition = a.partition AND o.op = a.op
  WHERE l.one_clock
),
timeline AS (
  SELECT topic, partition, op, began AS moment, 0 AS turn, 'before' AS kind,
    CAST(NULL AS BIGINT) AS epoch_told, CAST(NULL AS BIGINT) AS epoch_floor,
    CAST(NULL AS STRING) AS last_left, CAST(NULL AS BIGINT) AS shown_proven,
    CAST(NULL AS BIGINT) AS set_epoch, CAST(NULL AS BIGINT) AS set_told,
    CAST(NULL AS STRING) AS seeds_proven,
    0 AS commits_proven, CAST(NULL AS STRING) AS seeded, 0 AS seeds_done,
    CAST(NULL AS BIGINT) AS epoch_attempt, 0 AS set_attempt, 0 AS reset_attempt, 0 AS seed_attempt,
    0 AS bare_set_attempt, CAST(NULL AS BIGINT) AS seeder, 0 AS accepted_done,
    0 AS accepted_attempt
  FROM judged
  UNION ALL
  SELECT topic, partition, op, ended, 1, 'fact',
    stored_epoch,
    greatest(coalesce(stored_epoch, -1), CASE
      WHEN type = 'ok' AND f IN ('initialize_diskless_migration', 'register_leader_epoch')
      THEN leader_epoch ELSE -1 END),
    CASE WHEN left_behind >= 0
      THEN lpad(CAST(ended AS STRING), 20, '0') || contested || CAST(left_behind AS STRING) END,
    CASE WHEN type = 'ok' AND stored_boundary >= 0 THEN stored_boundary END,
    CASE WHEN type = 'ok' AND stored_boundary >= 0
      THEN greatest(coalesce(stored_epoch, -1), 0, CASE
      WHEN f IN ('initialize_diskless_migration', 'register_leader_epoch')
      THEN leader_epoch ELSE -1 END) END,
    CASE WHEN type = 'ok' AND stored_boundary >= 0
      THEN greatest(coalesce(stored_epoch, -1), 0) END,
    CASE WHEN type = 'ok' AND f = 'initialize_diskless_migration' THEN entries END,
    CASE WHEN type = 'ok' AND f = 'commit_batch' THEN 1 ELSE 0 END,
    CASE WHEN type = 'ok' AND f = 'seed_producer_state'
      THEN lpad(CAST(ended AS STRING), 20, '0') || entries END,
    CASE WHEN type = 'ok' AND f = 'seed_producer_state' THEN 1 ELSE 0 END,
    NULL, 0, 0, 0, 0, NULL, CASE WHEN left_behind IS NOT NULL THEN 1 ELSE 0 END, 0
  FROM judged WHERE ended IS NOT NULL
  UNION ALL
  SELECT topic, partition, op, began, 1, 'attempt',
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0,
    leader_epoch,
    CASE WHEN boundary >= 0
      AND f IN ('initialize_diskless_migration', 'set_diskless_log_start_offset')
      THEN 1 ELSE 0 END,
    CASE WHEN boundary < 0 AND f = 'set_diskless_log_start_offset' THEN 1 ELSE 0 END,
    CASE WHEN f = 'seed_producer_state' THEN 1 ELSE 0 END,
    CASE WHEN boundary >= 0 AND f = 'set_diskless_log_start_offset' THEN 1 ELSE 0 END,
    CASE WHEN f = 'seed_producer_state' THEN process END,
    0, CASE WHEN left_behind IS NOT NULL THEN 1 ELSE 0 END
  FROM judged WHERE type <> 'fail'
  UNION ALL
  SELECT topic, partition, op, coalesce(ended, 9223372036854775807), 2, 'possible',
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 0, 0, 0, NULL, 0, 0
  FROM judged
),
running AS (
  SELECT topic, partition, op, kind,
    max(epoch_told) OVER past AS epoch_told,
    max(epoch_floor) OVER past AS epoch_floor,
    max(last_left) OVER past AS last_left,
    max(shown_proven) OVER past AS shown_proven,
    max(set_epoch) OVER past AS set_epoch,
    max(set_told) OVER past AS set_told,
    max(seeds_proven) OVER past AS seeds_proven,
    sum(commits_proven) OVER past AS commits_proven,
    max(seeded) OVER past AS seeded,
    sum(seeds_done) OVER past AS seeds_done,
    max(epoch_attempt) OVER past AS epoch_ceiling,
    sum(set_attempt) OVER past AS sets_possible,
    sum(reset_attempt) OVER past AS resets_possible,
    sum(seed_attempt) OVER past AS seeds_possible,
    sum(bare_set_attempt) OVER past AS bare_sets_possible,
    min(seeder) OVER past AS first_seeder,
    max(seeder) OVER past AS last_seeder,
    sum(accepted_done) OVER past AS accepted_done,
    sum(accepted_attempt) OVER past AS accepted_begun
  FROM timeline
  WINDOW past AS (PARTITION BY topic, partition ORDER BY moment, turn, op, kind
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
known AS (
  SELECT topic, partition, op,
    coalesce(max(CASE WHEN kind = 'before' THEN epoch_told END), -1) AS epoch_told,
    coalesce(max(CASE WHEN kind = 'before' THEN epoch_floor END), -1) AS epoch_floor,
    coalesce(
      CAST(substr(max(CASE WHEN kind = 'before' THEN last_left END), 22) AS BIGINT),
      max(CASE WHEN kind = 'before' THEN shown_proven END), -1) AS set_proven,
    coalesce(substr(max(CASE WHEN kind = 'before' THEN last_left END), 21, 1), '0') = '1'
      AS contested,
    max(CASE WHEN kind = 'before' THEN set_epoch END) AS set_epoch,
    max(CASE WHEN kind = 'before' THEN set_told END) AS set_told,
    max(CASE WHEN kind = 'before' THEN seeds_proven END) AS seeds_proven,
    max(CASE WHEN kind = 'before' THEN commits_proven END) AS commits_proven,
    substr(max(CASE WHEN kind = 'before' THEN seeded END), 21) AS last_seeds,
    max(CASE WHEN kind = 'before' THEN seeds_done END) AS seeds_done,
    coalesce(max(CASE WHEN kind = 'possible' THEN epoch_ceiling END), -1) AS epoch_ceiling,
    max(CASE WHEN kind = 'possible' THEN sets_possible END) AS sets_begun,
    max(CASE WHEN kind = 'possible' THEN resets_possible END) AS resets_begun,
    max(CASE WHEN kind = 'possible' THEN seeds_possible END) AS seeds_begun,
    max(CASE WHEN kind = 'possible' THEN bare_sets_possible END) AS bare_sets_begun,
    max(CASE WHEN kind = 'possible' THEN first_seeder END) AS first_seeder,
    max(CASE WHEN kind = 'possible' THEN last_seeder END) AS last_seeder,
    max(CASE WHEN kind = 'before' THEN accepted_done END) AS accepted_done,
    max(CASE WHEN kind = 'possible' THEN accepted_begun END) AS accepted_begun
  FROM running GROUP BY topic, partition, op
)
SELECT o.*,
  k.epoch_told, k.epoch_floor, k.set_proven, k.seeds_proven, k.commits_proven, k.resets_begun,
  k.last_seeds, k.seeds_done, k.epoch_ceiling, k.first_seeder, k.last_seeder, k.seeds_begun,
  k.bare_sets_begun, k.set_epoch, k.set_told, k.contested AS set_contested,
  k.accepted_begun - k.accepted_done - CASE WHEN o.left_behind IS NOT NULL THEN 1 ELSE 0 END
    AS accepted_during,
  k.sets_begun - CASE WHEN o.type <> 'fail' AND o.boundary >= 0
    AND o.f IN ('initialize_diskless_migration', 'set_diskless_log_start_offset')
    THEN 1 ELSE 0 END AS sets_possible,
  k.resets_begun - CASE WHEN o.type <> 'fail' AND o.boundary < 0
    AND o.f = 'set_diskless_log_start_offset' THEN 1 ELSE 0 END AS resets_possible,
  max(CASE WHEN o.stored_boundary = -1 AND o.ended IS NOT NULL THEN greatest(
      coalesce(o.stored_epoch, -1),
      CASE WHEN o.type = 'ok' AND o.f = 'register_leader_epoch' THEN o.leader_epoch ELSE -1 END)
    END) OVER (PARTITION BY o.topic, o.partition) AS unset_fence,
  sum(CASE WHEN o.type <> 'fail' AND o.boundary < 0 AND o.f = 'set_diskless_log_start_offset'
    THEN 1 ELSE 0 END) OVER (PARTITION BY o.topic, o.partition) AS resets_ever
FROM judged o
JOIN known k ON o.topic = k.topic AND o.partition = k.partition AND o.op = k.op
