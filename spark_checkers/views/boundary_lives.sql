-- The operations of each log whose life the history shows from its creation on. Of any other log
-- the first state is not known, so no order of its operations can be refuted.
SELECT o.* FROM boundary_ops o
JOIN (SELECT DISTINCT topic, partition FROM boundary_ops
      WHERE f = 'create_log' AND type <> 'fail') c
  ON o.topic = c.topic AND o.partition = c.partition
