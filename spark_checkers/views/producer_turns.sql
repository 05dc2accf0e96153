-- Each of producer_tries with the last batch that its log has of the producer (`last_*`), and what Kafka
-- answers to it (`expected`): `repeat`, with the offset `first_offset` of the batch that it repeats, which
-- is the `back`-th before the last one; `append`; `gap`, the sequence numbers do not follow; `fenced`, the
-- epoch is older. Null: nothing is known of the producer, or it repeats what may be forgotten.
-- `forgettable`: one of the last five batches may be below the log start, so that a replica that read its
-- log again knows less than others, or the last one may be older than producers are remembered;
-- `silent_ms`: how old its latest record was when the attempt began, `expiration_ms` how old it may be.
-- complete within the partition: settings of a broker are about no log
-- computed once
WITH appended AS (
  SELECT t.topic, t.partition, t.producer_id, t.nth, t.producer_epoch, t.base_sequence, t.records,
    t.answered_offset, t.began, t.sent_op, (t.base_sequence + t.records - 1) % 2147483648 AS last_sequence
  FROM producer_tries t WHERE t.appends AND NOT t.unknown
),
repeated AS (
  SELECT t.op, max(a.nth) AS nth
  FROM producer_tries t
  JOIN appended a ON t.topic = a.topic AND t.partition = a.partition AND t.producer_id = a.producer_id
    AND t.producer_epoch = a.producer_epoch AND t.base_sequence = a.base_sequence
    AND t.records = a.records
  WHERE a.nth <= t.nth_before
  GROUP BY t.op
),
starts AS (
  SELECT topic, partition, max(log_start) AS log_start FROM log_starts_possible GROUP BY topic, partition
),
stamps AS (
  SELECT op, max(timestamp) AS stamp FROM records_sent WHERE producer_id IS NOT NULL GROUP BY op
),
settings AS (
  SELECT clock, min(CAST(nullif(regexp_extract(result, '"producer[.]id[.]expiration[.]ms":"([0-9]+)"', 1),
    '') AS BIGINT)) AS expiration_ms
  FROM ops WHERE f = 'describe_configs' AND topic IS NULL AND type = 'ok'
  GROUP BY clock
),
turns AS (
  SELECT t.op, t.topic, t.partition, t.clock, t.node, t.answered, t.type, t.error, t.answered_offset,
    t.producer_id, t.producer_epoch, t.base_sequence, l.producer_epoch AS last_epoch, l.last_sequence,
    l.answered_offset AS last_offset, f.answered_offset AS first_offset, t.nth_before - r.nth AS back,
    least(t.began, l.began, coalesce(f.began, l.began)) AS began, t.unknown,
    coalesce(s.log_start > k.answered_offset, FALSE) AS below_start,
    w.now_ms + CAST(floor((o.invoked_ns - w.time) / 1000000) AS BIGINT) - m.stamp AS silent_ms,
    w.now_ms + CAST(floor((o.completed_ns - w.time) / 1000000) AS BIGINT) - m.stamp AS silent_ms_most,
    coalesce(e.expiration_ms, 86400000) AS expiration_ms
  FROM producer_tries t
  JOIN ops o ON t.op = o.op
  JOIN appended l ON t.topic = l.topic AND t.partition = l.partition AND t.producer_id = l.producer_id
    AND t.nth_before = l.nth
  JOIN appended k ON t.topic = k.topic AND t.partition = k.partition AND t.producer_id = k.producer_id
    AND k.nth = greatest(t.nth_before - 4, 1)
  LEFT JOIN repeated r ON t.op = r.op
  LEFT JOIN appended f ON t.topic = f.topic AND t.partition = f.partition
    AND t.producer_id = f.producer_id AND r.nth = f.nth
  LEFT JOIN starts s ON t.topic = s.topic AND t.partition = s.partition
  LEFT JOIN stamps m ON l.sent_op = m.op
  LEFT JOIN wall_clocks w ON t.clock = w.clock
  LEFT JOIN settings e ON t.clock = e.clock
)
SELECT op, topic, partition, clock, node, began, answered AS ended, type, error, answered_offset,
  producer_id, producer_epoch, base_sequence, last_epoch, last_sequence, last_offset, first_offset, back,
  silent_ms, expiration_ms,
  below_start OR coalesce(silent_ms_most >= expiration_ms, FALSE) AS forgettable,
  CASE WHEN producer_epoch < last_epoch THEN 'fenced'
    WHEN producer_epoch = last_epoch AND back <= 4 THEN 'repeat'
    WHEN producer_epoch = last_epoch AND back IS NOT NULL THEN NULL
    WHEN producer_epoch = last_epoch AND base_sequence = (last_sequence + 1) % 2147483648 THEN 'append'
    WHEN producer_epoch > last_epoch AND base_sequence = 0 THEN 'append'
    ELSE 'gap' END AS expected
FROM turns
