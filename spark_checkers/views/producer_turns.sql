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
  SELECT *, (base_sequence + records - 1) % 2147483648 AS last_sequence,
    CAST(producer_epoch AS HUGEINT) * 4294967296 + base_sequence AS place
  FROM producer_tries WHERE appends AND NOT unknown
),
followed AS (
  SELECT op, topic, partition, clock, node, began, answered, type, error, answered_offset, producer_print,
    producer_id, producer_epoch, base_sequence, records, nth_before, lag(place) OVER turn < place AS rises,
    lag(nth) OVER turn AS last_nth, lag(producer_epoch) OVER turn AS last_epoch,
    lag(last_sequence) OVER turn AS last_sequence, lag(answered_offset) OVER turn AS last_offset,
    lag(began) OVER turn AS last_began, lag(sent_op) OVER turn AS last_sent_op,
    coalesce(lag(nth, 5) OVER turn, first_value(nth) OVER turn) AS fifth_nth,
    coalesce(lag(answered_offset, 5) OVER turn, first_value(answered_offset) OVER turn) AS fifth_offset
  FROM appended
  WINDOW turn AS (PARTITION BY producer_print ORDER BY nth)
  UNION ALL
  SELECT t.op, t.topic, t.partition, t.clock, t.node, t.began, t.answered, t.type, t.error,
    t.answered_offset, t.producer_print, t.producer_id, t.producer_epoch, t.base_sequence, t.records,
    t.nth_before, NULL, l.nth, l.producer_epoch, l.last_sequence, l.answered_offset, l.began, l.sent_op,
    k.nth, k.answered_offset
  FROM producer_tries t
  JOIN appended l ON t.producer_print = l.producer_print AND t.nth_before = l.nth
  JOIN appended k ON t.producer_print = k.producer_print AND k.nth = greatest(t.nth_before - 4, 1)
  WHERE NOT t.appends OR t.unknown
),
never_repeated AS (
  SELECT producer_print FROM followed GROUP BY producer_print
  HAVING bool_and(coalesce(rises, last_nth IS NULL))
),
repeated AS (
  SELECT t.op, t.topic, t.partition, max(a.nth) AS nth, arg_max(a.answered_offset, a.nth) AS first_offset,
    arg_max(a.began, a.nth) AS first_began
  FROM followed t
  JOIN appended a ON t.producer_print = a.producer_print AND t.producer_epoch = a.producer_epoch
    AND t.base_sequence = a.base_sequence AND t.records = a.records AND a.nth <= t.nth_before
  LEFT JOIN never_repeated n ON t.producer_print = n.producer_print
  WHERE n.producer_print IS NULL
  GROUP BY t.op, t.topic, t.partition
),
starts AS (
  SELECT topic, partition, max(log_start) AS log_start FROM log_starts_possible GROUP BY topic, partition
),
stamps AS (
  SELECT r.op, r.topic, r.partition, max(r.timestamp) AS stamp
  FROM records_sent r
  JOIN wall_clocks w ON r.clock = w.clock
  WHERE r.producer_id IS NOT NULL
  GROUP BY r.op, r.topic, r.partition
),
asked AS (
  SELECT o.op, o.topic, o.partition,
    w.now_ms + CAST(floor((o.invoked_ns - w.time) / 1000000) AS BIGINT) AS began_ms,
    w.now_ms + CAST(floor((o.completed_ns - w.time) / 1000000) AS BIGINT) AS answered_ms
  FROM ops o
  JOIN wall_clocks w ON o.clock = w.clock
),
settings AS (
  SELECT clock, min(TRY_CAST(nullif(regexp_extract(result, '"producer[.]id[.]expiration[.]ms":"([0-9]+)"', 1),
    '') AS BIGINT)) AS expiration_ms
  FROM ops WHERE f = 'describe_configs' AND topic IS NULL AND type = 'ok'
  GROUP BY clock
),
turns AS (
  SELECT t.op, t.topic, t.partition, t.clock, t.node, t.answered, t.type, t.error, t.answered_offset,
    t.producer_id, t.producer_epoch, t.base_sequence, t.last_epoch, t.last_sequence, t.last_offset,
    r.first_offset, t.nth_before - r.nth AS back,
    least(t.began, t.last_began, coalesce(r.first_began, t.last_began)) AS began,
    coalesce(s.log_start > t.fifth_offset, FALSE) AS below_start, o.began_ms - m.stamp AS silent_ms,
    o.answered_ms - m.stamp AS silent_ms_most, coalesce(e.expiration_ms, 86400000) AS expiration_ms
  FROM followed t
  LEFT JOIN repeated r ON t.op = r.op AND t.topic = r.topic AND t.partition = r.partition
  LEFT JOIN starts s ON t.topic = s.topic AND t.partition = s.partition
  LEFT JOIN stamps m ON t.last_sent_op = m.op AND t.topic = m.topic AND t.partition = m.partition
  LEFT JOIN asked o ON t.op = o.op AND t.topic = o.topic AND t.partition = o.partition
  LEFT JOIN settings e ON t.clock = e.clock
  WHERE t.last_nth = t.nth_before AND t.fifth_nth = greatest(t.nth_before - 4, 1)
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
