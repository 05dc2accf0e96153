-- Each answer that gives a producer its id and epoch, to InitProducerId or (version 2) to EndTxn, with the
-- greatest epoch of that id that was given before it was asked (`earlier`). `anew`: the producer does not
-- say who it was, so it is no repetition of a request whose answer was lost.
SELECT r.op, NULL AS topic, NULL AS partition, r.clock, r.began, r.ended, r.f, r.transactional_id,
  r.version, r.producer_id, r.producer_epoch, r.given_id, r.given_epoch,
  r.f = 'init_producer_id' AND r.producer_epoch IS NULL AS anew, max(e.given_epoch) AS earlier
FROM transaction_requests r
LEFT JOIN transaction_requests e ON r.clock = e.clock AND r.given_id = e.given_id
  AND e.type = 'ok' AND e.ended < r.began
WHERE r.type = 'ok' AND r.given_id IS NOT NULL
GROUP BY r.op, r.clock, r.began, r.ended, r.f, r.transactional_id, r.version, r.producer_id,
  r.producer_epoch, r.given_id, r.given_epoch
