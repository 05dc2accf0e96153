-- For each clock that was read beside the time of day: `now_ms` is the time of day, in milliseconds, when
-- the clock showed `time` nanoseconds.
-- computed once
SELECT clock, time, now_ms
FROM (
  SELECT clock, time, TRY_CAST(regexp_extract(detail, '"now_ms":([0-9]+)', 1) AS BIGINT) AS now_ms,
    row_number() OVER (PARTITION BY clock ORDER BY time, probe) AS nth
  FROM probes_other
  WHERE what = 'clock'
) looks
WHERE nth = 1
