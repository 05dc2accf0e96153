-- Each transaction of which a producer asked something: since when a commit of it was asked for, how it
-- was ended for certain (`decision`: commit, abort, or null if that is not known or was not asked), and
-- whether it was ever asked to be committed.
-- computed once
SELECT transaction, clock, count(*) AS ends,
  min(CASE WHEN committed AND type <> 'fail' THEN began END) AS commit_began,
  min(CASE WHEN type = 'ok' THEN ended END) AS decided,
  CASE WHEN max(CASE WHEN type = 'ok' AND committed THEN 1 ELSE 0 END) = 1 THEN 'commit'
    WHEN max(CASE WHEN type = 'ok' AND NOT committed THEN 1 ELSE 0 END) = 1 THEN 'abort' END AS decision
FROM transactions
WHERE transaction IS NOT NULL
GROUP BY transaction, clock
