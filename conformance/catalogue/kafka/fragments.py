"""Words that the rules of the log share."""

from __future__ import annotations

from functools import partial

from harness.rules import Depth, Level, Rule

kafka_rule = partial(
    Rule,
    document="kafka",
    lines=(),
    level=Level.MUST,
    depth=Depth.WIRE,
    profile="classic",
    source="the Kafka checker of Jepsen",
)
# Of rules about what the reference does not do yet.
UNBROKEN = "no mutant of the reference breaks it yet; the judge is proven on histories alone"

# Where Kafka promises what the rules say.
GUARANTEES = "documentation, Introduction: guarantees"
REPLICATION = "documentation, Design: replication"
PROTOCOL = "protocol guide"

# Assumptions: what Kafka's promises rest on. FORMAT.md says which faults break them.
DURABLE = ("clean-election", "synced-data")
LASTING = (*DURABLE, "log-kept")
LED = (*DURABLE, "one-leader")
RUNNING = (*DURABLE, "replica-up")

# Pieces of conditions.
READ = "f = 'fetch' AND type = 'ok'"
ONCE = "(producer_id IS NOT NULL OR attempts = 1)"


def not_before(moment: str, *facts: str) -> str:
    """Nothing among the facts, first times at which more was known, was over before a moment."""
    return " AND ".join(f"coalesce({fact} >= {moment}, TRUE)" for fact in facts)
