-- Each tiered or untiered log at a look, with the bounds that its leader named one after the other, the
-- earliest offset first and the latest last: each of them only rises. `segments`, `objects`: how many
-- remote segments and objects of it the look found.
SELECT l.probe AS op, l.topic, l.partition, l.clock, l.happened AS began, l.happened AS ended, l.look,
  l.resting, l.log_start, l.local_start, l.last_tiered, l.log_end, l.tiered,
  coalesce(e.segments, 0) AS segments, coalesce(o.objects, 0) AS objects
FROM remote_logs l
LEFT JOIN (
  SELECT clock, look, topic, partition, count(*) AS segments
  FROM remote_events WHERE event = 'segment' GROUP BY clock, look, topic, partition
) e ON l.clock = e.clock AND l.look = e.look AND l.topic = e.topic AND l.partition = e.partition
LEFT JOIN (
  SELECT clock, look, topic, partition, count(*) AS objects
  FROM remote_objects GROUP BY clock, look, topic, partition
) o ON l.clock = o.clock AND l.look = o.look AND l.topic = o.topic AND l.partition = o.partition
