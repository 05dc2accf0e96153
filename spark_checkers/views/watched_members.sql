-- Each replica that a broker names while the lab watches (FORMAT.md, phases), and whether the same broker named it in
-- sync with its first look. Nothing but slow links was in force all the while: no replica has a reason to go.
-- complete within the history
WITH watched AS (
  SELECT p.index, p.clock, p.since, p.until
  FROM phases p
  WHERE p.phase = 'watch' AND p.until IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM fault_windows w
    WHERE w.clock = p.clock AND w.fault NOT IN ('assumption-suspended', 'delay') AND w.since <= p.until
      AND coalesce(w.until, 9223372036854775807) >= p.since)
),
told AS (
  SELECT w.index AS watch, m.op, m.clock, m.began, m.answered, m.topic, m.partition, m.node, m.broker, m.in_isr, m.look
  FROM watched w
  JOIN members_told m ON m.clock = w.clock AND m.began >= w.since AND m.answered <= w.until
  WHERE m.type = 'ok' AND m.place IS NOT NULL
),
firsts AS (SELECT clock, watch, node, min(look) AS look FROM told GROUP BY clock, watch, node)
SELECT t.op, t.clock, t.began, t.answered AS ended, t.topic, t.partition, t.node, t.broker, t.in_isr
FROM told t
JOIN firsts f ON f.clock = t.clock AND f.watch = t.watch AND f.node = t.node
JOIN told b ON b.clock = f.clock AND b.watch = f.watch AND b.look = f.look AND b.node = t.node AND b.topic = t.topic
  AND b.partition = t.partition AND b.broker = t.broker
WHERE b.in_isr AND t.look > b.look
