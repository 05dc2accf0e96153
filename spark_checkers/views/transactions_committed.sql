-- Each transaction whose commit was acknowledged. Who reads committed records and passes its records
-- finds them: nothing beyond an open transaction is served to such a reader.
-- computed once
SELECT DISTINCT transaction FROM transactions WHERE type = 'ok' AND committed
