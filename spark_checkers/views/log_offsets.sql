-- Each offset at which something is known to stand, how many values claim it, and the operation that
-- was the first to show the last of them.
SELECT topic, partition, record_offset, place, held, max(op) AS op
FROM log_order
GROUP BY topic, partition, record_offset, place, held
