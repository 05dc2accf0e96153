-- Each operation on a boundary, with what was certain before it began and what was possible while
-- it ran. A reply that ended strictly before an operation began is a fact for it; an attempt that
-- began before it ended, and did not definitely fail, may have taken effect before or during it.
-- `unset_fence` is the highest epoch that any reply showed beside an unset boundary; without resets
-- whatever set the boundary came after that reply.
-- Logs whose operations carry more than one clock are left out: their order is not known.
-- computed once
WITH judged AS (
  SELECT o.*, l.born, l.upgraded FROM boundary_ops o
  JOIN boundary_logs l ON o.topic = l.topic AND o.partition = l.partition
  WHERE l.one_clock
),
timeline AS (
  SELECT topic, partition, op, began AS moment, 0 AS turn, 'before' AS kind,
    CAST(NULL AS BIGINT) AS epoch_told, CAST(NULL AS BIGINT) AS epoch_floor,
    CAST(NULL AS BIGINT) AS set_proven, CAST(NULL AS STRING) AS seeds_proven,
    0 AS commits_proven, CAST(NULL AS STRING) AS seeded, 0 AS seeds_done,
    CAST(NULL AS BIGINT) AS epoch_attempt, 0 AS set_attempt, 0 AS reset_attempt, 0 AS seed_attempt,
    0 AS bare_set_attempt, CAST(NULL AS BIGINT) AS seeder
  FROM judged
  UNION ALL
  SELECT topic, partition, op, ended, 1, 'fact',
    stored_epoch,
    greatest(coalesce(stored_epoch, -1), CASE
      WHEN type = 'ok' AND f IN ('initialize_diskless_migration', 'register_leader_epoch')
      THEN leader_epoch ELSE -1 END),
    CASE
      WHEN type = 'ok' AND boundary >= 0
        AND f IN ('initialize_diskless_migration', 'set_diskless_log_start_offset')
        THEN coalesce(stored_boundary, boundary)
      WHEN stored_boundary >= 0 THEN stored_boundary END,
    CASE WHEN type = 'ok' AND f = 'initialize_diskless_migration' THEN entries END,
    CASE WHEN type = 'ok' AND f = 'commit_batch' THEN 1 ELSE 0 END,
    CASE WHEN type = 'ok' AND f = 'seed_producer_state'
      THEN lpad(CAST(ended AS STRING), 20, '0') || entries END,
    CASE WHEN type = 'ok' AND f = 'seed_producer_state' THEN 1 ELSE 0 END,
    NULL, 0, 0, 0, 0, NULL
  FROM judged WHERE ended IS NOT NULL
  UNION ALL
  SELECT topic, partition, op, began, 1, 'attempt',
    NULL, NULL, NULL, NULL, 0, NULL, 0,
    leader_epoch,
    CASE WHEN boundary >= 0
      AND f IN ('initialize_diskless_migration', 'set_diskless_log_start_offset')
      THEN 1 ELSE 0 END,
    CASE WHEN boundary < 0 AND f = 'set_diskless_log_start_offset' THEN 1 ELSE 0 END,
    CASE WHEN f = 'seed_producer_state' THEN 1 ELSE 0 END,
    CASE WHEN boundary >= 0 AND f = 'set_diskless_log_start_offset' THEN 1 ELSE 0 END,
    CASE WHEN f = 'seed_producer_state' THEN process END
  FROM judged WHERE type <> 'fail'
  UNION ALL
  SELECT topic, partition, op, coalesce(ended, 9223372036854775807), 2, 'possible',
    NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, 0, 0, 0, NULL
  FROM judged
),
running AS (
  SELECT topic, partition, op, kind,
    max(epoch_told) OVER past AS epoch_told,
    max(epoch_floor) OVER past AS epoch_floor,
    max(set_proven) OVER past AS set_proven,
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
    max(seeder) OVER past AS last_seeder
  FROM timeline
  WINDOW past AS (PARTITION BY topic, partition ORDER BY moment, turn, op, kind
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
),
known AS (
  SELECT topic, partition, op,
    coalesce(max(CASE WHEN kind = 'before' THEN epoch_told END), -1) AS epoch_told,
    coalesce(max(CASE WHEN kind = 'before' THEN epoch_floor END), -1) AS epoch_floor,
    coalesce(max(CASE WHEN kind = 'before' THEN set_proven END), -1) AS set_proven,
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
    max(CASE WHEN kind = 'possible' THEN last_seeder END) AS last_seeder
  FROM running GROUP BY topic, partition, op
)
SELECT o.*,
  k.epoch_told, k.epoch_floor, k.set_proven, k.seeds_proven, k.commits_proven, k.resets_begun,
  k.last_seeds, k.seeds_done, k.epoch_ceiling, k.first_seeder, k.last_seeder, k.seeds_begun,
  k.bare_sets_begun,
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
