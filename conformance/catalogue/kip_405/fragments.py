"""Words that the rules of tiered storage share.

Line numbers point into `design/kip-405.md`; C and G name the readings in `docs/readings.md`. What
other systems may do differently (the variant `kafka4` of the readings) is what `tolerant` grants.
"""

from __future__ import annotations

from typing import Any

from conformance.catalogue import kafka
from harness.rules import Depth, Holds, Level, Rule

UNBROKEN = "no mutant of the reference breaks it yet; the judge is proven on histories alone"
# What some mutant breaks (`conformance/mutants`).
_BROKEN = (
    5,
    6,
    7,
    23,
    26,
    34,
    37,
    40,
    41,
    44,
    46,
    53,
    54,
    55,
    57,
    62,
    83,
    88,
    95,
    96,
    97,
    100,
)


def tier_rule(**named: Any) -> Rule:
    """A rule of the document; one that no mutant breaks says so."""
    broken = int(str(named["id"]).removeprefix("TS-")) in _BROKEN
    said: dict[str, Any] = {
        "document": "kip-405",
        "level": Level.MUST,
        "depth": Depth.WIRE,
        "profile": "tiered",
        "unproven": "" if broken else UNBROKEN,
    }
    return Rule(**{**said, **named})


FETCHES = "Consumer Fetch Requests"
LISTS = "ListOffsets"
EPOCHS = "Log lineage"
FOLLOWERS = "Follower Replication"
DELETES = "DeleteRecords"
RETENTION = "Retention"
COPIES = "Copying segments"
OUTAGES = "Remote storage unavailable"
CONFIGS = "Configs"
RECORDS = "Message Format"
STATES = "Remote Log Metadata State transitions"
STORE = "Remote storage"
REMOVAL = "Topic deletion lifecycle"

_KAFKA = {rule.id: rule for rule in kafka.RULES}


def as_in(rule: str) -> dict[str, Any]:
    """The judge of a rule of Kafka: what it says of a log holds across the tiers."""
    found = _KAFKA[rule]
    return {
        "judge": found.judge,
        "tolerant": found.tolerant,
        "binds_others": found.binds_others,
        "assumes": found.assumes,
        "hint": f"{found.hint}; as {rule}, in either tier",
    }


def lines(*spans: int | tuple[int, int]) -> tuple[int, ...]:
    """Single lines and ranges of them, both ends included."""
    found: list[int] = []
    for span in spans:
        first, last = span if isinstance(span, tuple) else (span, span)
        found += range(first, last + 1)
    return tuple(sorted(found))


def requests(when: str, holds: str) -> Holds:
    """About a request that names its version."""
    return Holds(
        table="tier_requests",
        when=when,
        holds=holds,
        show=(
            "node",
            "f",
            "version",
            "replica",
            "asked_offset",
            "asked_timestamp",
            "error",
            "records",
            "answered_offset",
            "log_start",
            "local_start",
        ),
        words=(
            "node {node} answers {f} in version {version}",
            "replica {replica} asks for offset {asked_offset}",
            "asked for timestamp {asked_timestamp}",
            "with {error}",
            "{records} records",
            "offset {answered_offset}",
            "the log starts at {log_start}",
            "its local part at {local_start}",
        ),
    )


def records(when: str, holds: str) -> Holds:
    """About a record of the metadata topic."""
    return Holds(
        table="remote_records",
        when=when,
        holds=holds,
        show=(
            "metadata_partition",
            "metadata_offset",
            "event",
            "segment_id",
            "state",
            "before",
            "problem",
            "due_partition",
        ),
        words=(
            "record {metadata_offset} of metadata partition {metadata_partition}",
            "is of type {event}",
            "about segment {segment_id}",
            "and gives it state {state}",
            "it had state {before}",
            "it cannot be decoded: {problem}",
            "it belongs in partition {due_partition}",
        ),
    )


def segments(when: str, holds: str, *more: str) -> Holds:
    """About a remote segment at rest."""
    return Holds(
        table="remote_segments",
        when=when,
        holds=holds,
        show=("segment_id", "start_offset", "end_offset", "state", "objects", "log_start", *more),
        words=(
            "segment {segment_id} of offsets {start_offset} to {end_offset}",
            "is in state {state}",
            "the store has {objects} objects of it",
            "the log starts at {log_start}",
        ),
    )


def configured(case: str, holds: str) -> Holds:
    """About a request for a configuration, by the case that it is."""
    return Holds(
        table="ops",
        when=f"f = 'configure_tier' AND key LIKE '\"{case}%' AND type <> 'info'",
        holds=holds,
        show=("key", "value", "error", "node"),
        words=("node {node} answers {value}", "the case {key}", "with {error}"),
    )
