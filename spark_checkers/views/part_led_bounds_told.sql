-- Each row of part_led_bounds with the operation that contradicts it, as in part_bounds_told.
SELECT b.* FROM part_bounds_told b
JOIN part_epochs e ON b.topic = e.topic AND b.partition = e.partition AND b.epoch = e.epoch
  AND b.node = e.least_leader AND b.node = e.greatest_leader
