-- Each record of the remote log metadata topic, as the last look at it found it. `before`: the state that
-- the record before it gave to the same segment, or to the deletion of the same partition; `number`: how
-- many records of the same segment or deletion stand before it, in topic order; `marked`: whether the
-- deletion of its partition was begun before it.
-- complete within the history
-- computed once
WITH looks AS (
  SELECT clock, max(look) AS look FROM remote_events GROUP BY clock
),
records AS (
  SELECT e.probe, e.clock, e.happened, e.topic, e.topic_id, e.partition, e.metadata_partition,
    e.metadata_offset, e.due_partition, e.keyed, e.problem, e.event, e.segment_id, e.start_offset,
    e.end_offset, e.leader_epoch, e.max_timestamp, e.event_timestamp, e.size, e.state, e.epochs, e.deleted,
    e.resting, coalesce(e.segment_id, 'partition') AS subject
  FROM remote_events e
  JOIN looks l ON e.clock = l.clock AND e.look = l.look
)
SELECT probe AS op, topic, partition, clock, happened AS began, happened AS ended, topic_id,
  metadata_partition, metadata_offset, due_partition, keyed, problem, event, segment_id, start_offset,
  end_offset, leader_epoch, max_timestamp, event_timestamp, size, state, epochs, deleted, resting,
  lag(state) OVER life AS before, lag(event_timestamp) OVER life AS event_before,
  row_number() OVER life - 1 AS number,
  max(CASE WHEN event = 'partition' THEN state END) OVER (PARTITION BY clock, topic_id, partition
    ORDER BY metadata_offset ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS marked,
  count(*) OVER (PARTITION BY clock, metadata_partition, metadata_offset) AS copies,
  min(metadata_partition) OVER (PARTITION BY clock, topic_id, partition) AS least_partition
FROM records
WINDOW life AS (PARTITION BY clock, topic_id, partition, subject ORDER BY metadata_offset)
