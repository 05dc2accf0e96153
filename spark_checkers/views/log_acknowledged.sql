-- Each value that an acknowledged operation sent, and when an ok operation first polled it.
SELECT writer_op AS op, topic, partition, value, acked_at, seen_at
FROM log_values WHERE acked_at IS NOT NULL
