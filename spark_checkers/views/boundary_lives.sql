-- The operations of each log whose life the history shows from its creation on. Of any other log
-- the first state is not known, so no order of its operations can be refuted.
SELECT o.* FROM boundary_ops o
JOIN boundary_logs l ON o.topic = l.topic AND o.partition = l.partition
WHERE l.born
