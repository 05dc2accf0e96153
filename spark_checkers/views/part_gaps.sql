-- Each jump with the offsets that it passes over and that are not below the log start its answer names,
-- `first_missing` to `last_missing`, in the one or two stretches of 2^shift offsets that they lie in, so
-- that records are found by the number of their stretch. The shift fits the gap: a stretch is at most
-- eight times as long. `log` and `print` are the log, and the stretch in it for this kind of reader.
-- computed once
WITH sized AS (
  SELECT *, greatest(follows + 1, log_start) AS first_missing, record_offset - 1 AS last_missing,
    CASE WHEN record_offset - follows <= 8 THEN 3 WHEN record_offset - follows <= 64 THEN 6
      WHEN record_offset - follows <= 512 THEN 9 WHEN record_offset - follows <= 4096 THEN 12
      WHEN record_offset - follows <= 32768 THEN 15 WHEN record_offset - follows <= 262144 THEN 18
      WHEN record_offset - follows <= 16777216 THEN 24 ELSE 62 END AS shift
  FROM part_jumps WHERE log_start < record_offset
),
placed AS (
  SELECT *, first_missing >> shift AS stretch FROM sized
  UNION ALL
  SELECT *, last_missing >> shift FROM sized WHERE last_missing >> shift <> first_missing >> shift
)
SELECT *, fingerprint(topic, partition, 0, '', '', 0) AS log,
  fingerprint(topic, partition, stretch, CAST(committed AS STRING), '', shift) AS print
FROM placed
