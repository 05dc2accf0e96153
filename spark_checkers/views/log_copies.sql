-- Each value that stands at some offset, and at how many.
SELECT shown_op AS op, topic, partition, value, copies, copies_above_0, first_offset, last_offset
FROM log_values WHERE copies IS NOT NULL
