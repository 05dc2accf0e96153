"""What every answer is, whatever it says: a message by the schema of the version that was asked.

No fault excuses a breach. A broker that dies leaves no answer or part of one, which is a lost
answer and is judged as such; a whole answer that cannot be read is wrong whenever it comes.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import PROTOCOL, kafka_rule
from harness.rules import Holds

ANSWERS = "Answers"
_ASKED = (
    "create_topics",
    "delete_records",
    "fetch",
    "list_offsets",
    "metadata",
    "offset_for_leader_epoch",
    "produce",
)

RULES = (
    kafka_rule(
        id="KFK-096",
        section=ANSWERS,
        source=f"{PROTOCOL}, Protocol primitive types and messages",
        sentence="Every answer can be read by the schema of the version that was asked.",
        judge=Holds(
            table="ops",
            when=f"f IN {_ASKED} AND (type = 'ok' OR error IS NOT NULL)",
            holds="coalesce(error, 'NONE') <> 'UNREADABLE_ANSWER'",
            show=("f", "node", "detail"),
            words=("node {node} answers {f} with what cannot be read", "{detail}"),
        ),
        hint="lengths of arrays and text, tags of flexible versions, the correlation id",
    ),
)
