-- Each object that a look at rest found in the store, with the state that the metadata topic gives to its
-- segment at the same look; null if it has none there.
-- complete within the history
SELECT o.probe AS op, coalesce(o.topic, o.object_key) AS topic, o.partition, o.clock, o.happened AS began,
  o.happened AS ended, o.object_key, o.part, o.size, o.segment_id, o.deleted, s.state
FROM remote_objects o
LEFT JOIN remote_segments s ON o.clock = s.clock AND o.look = s.look AND o.segment_id = s.segment_id
WHERE o.resting
