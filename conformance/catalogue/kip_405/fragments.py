"""Words that the rules of tiered storage share.

Line numbers point into `design/kip-405.md`; C and G name the readings in `docs/readings.md`. What
other systems may do differently (the variant `kafka4` of the readings) is what `tolerant` grants.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.catalogue import kafka
from harness.rules import Depth, Holds, Judge, Level, Rule

# A decision is a pure function: in its place nothing else can call the store, or wait for it. What
# does call it are the tasks and readers of `tiered/`, none of which these requests come by.
_NO_STORE = "{}; a decision that is replaced adds no call to the store, and so no wait for one"
# Why no mutant of `conformance/mutants` breaks a rule.
_UNBROKEN = {
    60: _NO_STORE.format("an append is answered from the log and what followers have fetched"),
    63: _NO_STORE.format("the controller creates topics, and has neither store nor metadata of it"),
    64: _NO_STORE.format("the controller deletes topics, and has neither store nor metadata of it"),
    87: "a copy begins after the mark only on a broker that has not heard of the deletion for"
    " longer than its session lasts, and then what is marked depends on who is faster",
    102: "logs, objects and metadata are found by topic id wherever they are kept: there is no"
    " single choice that could take the name instead",
    201: "what hides a record of a transaction hides it from some reads and not from all; a marker"
    " that is missing keeps readers from the whole of it",
}


def tier_rule(**named: Any) -> Rule:
    """A rule of the document; one that no mutant breaks says so."""
    number = int(str(named["id"]).removeprefix("TS-"))
    said: dict[str, Any] = {
        "document": "kip-405",
        "level": Level.MUST,
        "depth": Depth.WIRE,
        "profile": "tiered",
        "unproven": _UNBROKEN.get(number, ""),
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


TIERED_TOPICS = "tiered_topics"


def as_in(rule: str) -> dict[str, Any]:
    """The judge of a rule of Kafka: what it says of a log holds across the tiers of tiered ones."""
    found = _KAFKA[rule]
    return {
        "judge": _of_tiered(found.judge),
        "tolerant": _of_tiered(found.tolerant),
        "binds_others": found.binds_others,
        "assumes": found.assumes,
        "hint": f"{found.hint}; as {rule}, in either tier",
    }


def _of_tiered(judge: Judge | None) -> Judge | None:
    if judge is None:
        return None
    if not isinstance(judge, Holds):
        raise TypeError(f"only rows can be chosen by topic, not what {judge} looks at")
    return replace(judge, among=TIERED_TOPICS)


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
