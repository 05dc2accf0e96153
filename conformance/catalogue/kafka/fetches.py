"""What one answer to a fetch says.

A gap between offsets is no fault by itself: transaction markers, compaction and aborted
transactions leave some. It is one if a record is known to stand there, for such a reader.

Not promised, hence not judged: that a reader is given all there is (byte limits), or anything if
its partition shares a request with others, or if it is sent to another replica; and, by Kafka's
brokers, that what one answer serves and the marks it names were read at one moment (KFK-047 and
KFK-053 bind the reference only). Nor that the first answer to a fetch has records: those that are
read from a remote store too late are left out, so that others are only held to serving them at all.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import (
    LASTING,
    PROTOCOL,
    READ,
    REPLICATION,
    RUNNING,
    kafka_rule,
)
from harness.rules import Holds

FETCHES = "Fetches"


def answered_empty(holds: str) -> Holds:
    """About fetches that begin at a record which is there for their readers."""
    return Holds(
        table="part_empty",
        when="given OR known_op IS NOT NULL",
        holds=holds,
        show=("node", "asked_offset", "high_watermark", "last_stable_offset", "known_op"),
        times="times",
        words=(
            "node {node} serves nothing from offset {asked_offset}",
            "it names the high watermark {high_watermark}",
            "the last stable offset is {last_stable_offset}",
            "op {known_op} knows of a record at that offset",
        ),
    )


RULES = (
    kafka_rule(
        id="KFK-045",
        section=FETCHES,
        source=f"{PROTOCOL}, Fetch",
        sentence="Offsets in an answer rise from the offset that was asked for.",
        judge=Holds(
            table="records_seen",
            when="follows IS NOT NULL",
            holds="record_offset > follows",
            show=("asked_offset", "position", "record_offset", "follows", "node"),
            words=(
                "node {node} serves offset {record_offset} in place {position}",
                "behind {follows}",
                "asked for {asked_offset}",
            ),
        ),
        hint="segments in the wrong order, or a batch that is served twice",
    ),
    kafka_rule(
        id="KFK-046",
        section=FETCHES,
        source=f"{PROTOCOL}, Fetch",
        sentence="A fetch passes over no record that is in the log and visible to its reader.",
        assumes=LASTING,
        judge=Holds(
            table="gaps_in_reads",
            when="TRUE",
            holds="missing_offset IS NULL",
            show=(
                "follows",
                "record_offset",
                "missing_offset",
                "known_op",
            ),
            times="times",
            words=(
                "it goes from offset {follows} to {record_offset}",
                "op {known_op} knows of a record at {missing_offset}",
            ),
        ),
        hint="an index that points beyond the offset, or a segment that is missing",
    ),
    kafka_rule(
        id="KFK-047",
        section=FETCHES,
        source=REPLICATION,
        sentence="An answer serves nothing at or above the end that it names to its reader.",
        binds_others=False,
        judge=Holds(
            table="responses",
            when=f"{READ} AND last_offset IS NOT NULL AND high_watermark >= 0",
            holds="last_offset < CASE WHEN isolation = 'read_committed'"
            " THEN coalesce(last_stable_offset, high_watermark) ELSE high_watermark END",
            show=("isolation", "last_offset", "high_watermark", "last_stable_offset", "node"),
            words=(
                "node {node} serves a {isolation} reader offset {last_offset}",
                "it names the high watermark {high_watermark}",
                "the last stable offset is {last_stable_offset}",
            ),
        ),
        hint="is the read bounded by the high watermark, or by the end of the log?",
    ),
    kafka_rule(
        id="KFK-048",
        section=FETCHES,
        source="KIP-74",
        sentence="A fetch that begins at a record below its reader's end is not answered empty.",
        assumes=LASTING,
        judge=answered_empty("given"),
        tolerant=answered_empty("given OR served"),
        hint="the first batch is given even where it is larger than every limit",
    ),
    kafka_rule(
        id="KFK-049",
        section=FETCHES,
        source=f"{PROTOCOL}, OFFSET_OUT_OF_RANGE",
        sentence="OFFSET_OUT_OF_RANGE is only answered to offsets that are out of range.",
        assumes=RUNNING,
        judge=Holds(
            table="part_ranges",
            when="TRUE",
            holds="NOT coalesce(asked_offset >= log_start AND asked_offset <= reach, FALSE)",
            show=("node", "epoch", "asked_offset", "log_start", "reach"),
            words=(
                "node {node} refuses offset {asked_offset} in epoch {epoch}",
                "it had shown the log up to {reach}",
                "later it names the log start {log_start}",
            ),
        ),
        hint="the end itself is in range: there is just nothing yet",
    ),
    kafka_rule(
        id="KFK-053",
        section=FETCHES,
        source=REPLICATION,
        sentence="In one answer: log start at most last stable offset at most high watermark.",
        binds_others=False,
        judge=Holds(
            table="responses",
            when=f"{READ} AND high_watermark >= 0 AND last_stable_offset >= 0",
            holds="last_stable_offset <= high_watermark"
            " AND coalesce(log_start_offset, 0) <= last_stable_offset",
            show=("log_start_offset", "last_stable_offset", "high_watermark", "node"),
            words=(
                "node {node} names the high watermark {high_watermark}",
                "the last stable offset {last_stable_offset}",
                "the log start {log_start_offset}",
            ),
        ),
        hint="were the three read under one lock?",
    ),
)
