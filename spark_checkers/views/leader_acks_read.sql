-- Each send that not all in-sync replicas were asked to acknowledge and of which a record was read at the
-- offset it was told: so it is in the log there, which the acknowledgement alone does not prove.
-- computed once
SELECT DISTINCT r.op, r.topic, r.partition
FROM (
  SELECT *, fingerprint(topic, partition, record_offset, value, '', 0) AS print FROM records_sent
  WHERE type = 'ok' AND acks <> -1 AND record_offset IS NOT NULL AND value IS NOT NULL
) r
JOIN (
  SELECT fingerprint(topic, partition, record_offset, value, '', 0) AS print FROM records_seen
) s ON r.print = s.print
