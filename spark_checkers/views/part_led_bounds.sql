-- Each row of part_bounds about a replica in a leader epoch that it led itself: in that epoch it
-- answered latest, which nobody else does.
SELECT b.* FROM part_bounds b
JOIN part_epochs e ON b.topic = e.topic AND b.partition = e.partition AND b.epoch = e.epoch
  AND b.node = e.least_leader AND b.node = e.greatest_leader
