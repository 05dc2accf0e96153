-- Each look at the producer state of a log whose boundary was set at that moment, and whether an
-- initialisation that had begun by then proposed exactly this boundary with exactly these seeds.
WITH proposals AS (
  SELECT topic, partition, boundary, entries, min(began) AS since FROM boundary_ops
  WHERE f = 'initialize_diskless_migration' AND type <> 'fail'
  GROUP BY topic, partition, boundary, entries
)
SELECT o.op, o.topic, o.partition, o.f, o.process, o.began, o.ended, o.stored_boundary,
  o.stored_seeds, o.resets_possible, o.bare_sets_begun, o.last_seeds, o.born,
  coalesce(p.since <= o.ended, FALSE) AS proposed
FROM boundary_known o
LEFT JOIN proposals p ON o.topic = p.topic AND o.partition = p.partition
  AND o.stored_boundary = p.boundary AND o.stored_seeds = p.entries
WHERE o.f = 'describe_producers' AND o.type = 'ok' AND o.stored_boundary >= 0
