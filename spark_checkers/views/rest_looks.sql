-- What was seen last of each partition while its cluster was to come to rest. `looks`: how often all
-- brokers were asked; `agreed`: in the last look all answered and named one leader in one epoch;
-- `silent`: the least broker that did not answer; `lacks`: the least live replica that is not in sync, as
-- broker `teller` says.
-- computed once
WITH rounds AS (
  SELECT op, clock, began, ended, bound_ns, lasted_ns, topic, partition, look,
    min(CASE WHEN NOT answered THEN node END) AS silent,
    min(CASE WHEN answered THEN leader END) AS leader,
    max(CASE WHEN answered THEN leader END) AS other_leader,
    min(CASE WHEN answered THEN leader_epoch END) AS epoch,
    max(CASE WHEN answered THEN leader_epoch END) AS other_epoch,
    min(lacks) AS lacks, min(CASE WHEN lacks IS NOT NULL THEN node END) AS teller,
    sum(CASE WHEN answered THEN 1 ELSE 0 END) AS answers
  FROM rest_answers
  GROUP BY op, clock, began, ended, bound_ns, lasted_ns, topic, partition, look
),
placed AS (
  SELECT op, clock, began, ended, bound_ns, lasted_ns, topic, partition, silent, leader, other_leader,
    epoch, other_epoch, lacks, teller, answers,
    count(*) OVER (PARTITION BY op, topic, partition) AS looks,
    row_number() OVER (PARTITION BY op, topic, partition ORDER BY look DESC) AS back
  FROM rounds
)
SELECT op, clock, began, ended, bound_ns, lasted_ns, topic, partition, looks, answers, silent, lacks,
  teller, leader, CASE WHEN other_leader <> leader THEN other_leader END AS other_leader,
  epoch, CASE WHEN other_epoch <> epoch THEN other_epoch END AS other_epoch,
  bound_ns / 1000000000 AS bound_s,
  coalesce(silent IS NULL AND leader >= 0 AND leader = other_leader AND epoch = other_epoch, FALSE)
    AS agreed
FROM placed WHERE back = 1
