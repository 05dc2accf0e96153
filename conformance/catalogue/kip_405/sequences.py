"""What Apache Kafka answered to recorded sequences of requests about tiered topics.

One family of sequences, judged as those about logs on disks alone are (`kafka/sequences.py`). Where
the document and Apache Kafka part, `allowed_differences.json` names the reading.
"""

from __future__ import annotations

from conformance.catalogue.kafka.sequences import as_kafka_answers
from conformance.catalogue.kip_405.fragments import tier_rule

FAMILY = "tiered"

RULES = (
    tier_rule(
        id="TS-210",
        section="Other APIs",
        lines=(662, 672, 676, 680, 698),
        sentence="Requests about tiered topics are answered as Apache Kafka answers them.",
        judge=as_kafka_answers(FAMILY),
        hint="special timestamps by version, reads around remote batches, deletions, retention",
    ),
)
