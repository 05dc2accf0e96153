-- Each offset that was acknowledged to records of several sends, whatever they asked for. Legal where a
-- new leader did not have what only the old one had acknowledged, and where a batch was repeated.
-- computed once
SELECT topic, partition, record_offset, count(*) AS sends
FROM records_sent WHERE type = 'ok' AND record_offset IS NOT NULL
GROUP BY topic, partition, record_offset HAVING count(*) > 1
