-- Each first record of a remote segment, as the last look found it, with the segment that the same leader
-- epoch of the same log began before it: `state_before` is the state that segment had when this one began.
-- complete within the history
WITH starts AS (
  SELECT op, topic, partition, clock, began, ended, topic_id, segment_id, metadata_offset, leader_epoch,
    start_offset, end_offset,
    lag(segment_id) OVER turn AS segment_before, lag(start_offset) OVER turn AS start_before,
    lag(end_offset) OVER turn AS end_before
  FROM remote_records
  WHERE event = 'segment' AND number = 0
  WINDOW turn AS (PARTITION BY clock, topic_id, partition, leader_epoch ORDER BY metadata_offset)
),
states AS (
  SELECT s.clock, s.segment_id, max(r.state) AS state
  FROM starts s
  JOIN remote_records r ON s.clock = r.clock AND s.segment_before = r.segment_id
    AND r.metadata_offset < s.metadata_offset
  GROUP BY s.clock, s.segment_id
)
SELECT s.op, s.topic, s.partition, s.clock, s.began, s.ended, s.segment_id, s.leader_epoch, s.start_offset,
  s.end_offset, s.segment_before, s.start_before, s.end_before, t.state AS state_before
FROM starts s
JOIN states t ON s.clock = t.clock AND s.segment_id = t.segment_id
