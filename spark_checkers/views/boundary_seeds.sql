-- Each look at the producer state of a log whose boundary was set at that moment, and whether an
-- initialisation that had begun by then proposed exactly this boundary with exactly these seeds.
-- `seeded_before` counts the seedings that were over when the first accepted initialisation began,
-- `seeded_since` those that may have come after; `initialized` says that one was over before the
-- look.
WITH proposals AS (
  SELECT topic, partition, boundary, entries, min(began) AS since FROM boundary_ops
  WHERE f = 'initialize_diskless_migration' AND type <> 'fail'
  GROUP BY topic, partition, boundary, entries
),
firsts AS (
  SELECT topic, partition, min(began) AS began, min(ended) AS ended FROM boundary_ops
  WHERE f = 'initialize_diskless_migration' AND type = 'ok'
  GROUP BY topic, partition
),
seedings AS (
  SELECT s.topic, s.partition, count(*) AS seeded_before
  FROM boundary_ops s
  JOIN firsts i ON s.topic = i.topic AND s.partition = i.partition AND s.ended < i.began
  WHERE s.f = 'seed_producer_state' AND s.type = 'ok'
  GROUP BY s.topic, s.partition
)
SELECT o.op, o.topic, o.partition, o.f, o.process, o.began, o.ended, o.stored_boundary,
  o.stored_seeds, o.resets_possible, o.bare_sets_begun, o.last_seeds, o.born,
  coalesce(p.since <= o.ended, FALSE) AS proposed,
  coalesce(i.ended < o.began, FALSE) AS initialized,
  coalesce(s.seeded_before, 0) AS seeded_before,
  o.seeds_begun - coalesce(s.seeded_before, 0) AS seeded_since
FROM boundary_known o
LEFT JOIN proposals p ON o.topic = p.topic AND o.partition = p.partition
  AND o.stored_boundary = p.boundary AND o.stored_seeds = p.entries
LEFT JOIN firsts i ON o.topic = i.topic AND o.partition = i.partition
LEFT JOIN seedings s ON o.topic = s.topic AND o.partition = s.partition
WHERE o.f = 'describe_producers' AND o.type = 'ok' AND o.stored_boundary >= 0
