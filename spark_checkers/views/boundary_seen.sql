-- Each reply that showed a set boundary, with the least and greatest boundary shown under the same
-- stored epoch of the same log, and how many replies showed one.
SELECT op, topic, partition, f, process, began, ended, stored_boundary, stored_epoch,
  min(stored_boundary) OVER life AS least, max(stored_boundary) OVER life AS greatest_shown,
  count(*) OVER life AS shown
FROM boundary_ops
WHERE stored_boundary >= 0 AND stored_epoch IS NOT NULL AND ended IS NOT NULL
WINDOW life AS (PARTITION BY topic, partition, stored_epoch)
