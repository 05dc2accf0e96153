-- The operations of each log whose life the history shows, and that a call over several partitions
-- has asked.
SELECT o.* FROM boundary_lives o
WHERE EXISTS (
  SELECT 1 FROM boundary_ops t
  WHERE t.topic = o.topic AND t.partition = o.partition AND t.together IS NOT NULL)
