-- Each offset at which somebody read an orphan: how many did, and whether they saw the same.
-- computed once
SELECT topic, partition, record_offset, count(*) AS strays, min(value) AS least_value,
  max(value) AS greatest_value,
  min(fingerprint('', 0, 0, value, record_key, timestamp)) AS least,
  max(fingerprint('', 0, 0, value, record_key, timestamp)) AS most
FROM part_orphans GROUP BY topic, partition, record_offset
