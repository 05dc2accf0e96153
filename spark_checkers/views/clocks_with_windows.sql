-- Each clock by which an assumption was broken at times.
-- computed once
SELECT DISTINCT clock FROM spans_unbroken
