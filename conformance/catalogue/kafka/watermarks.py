"""Ends and starts of a log that only rise, and what ListOffsets and DeleteRecords say of them.

High watermark, last stable offset and log start are held to one replica in one leader epoch, where
the history tells epochs. Across leader changes Kafka promises less: the high watermark of a new
leader may lag behind what its predecessor showed, and its fetch answers say so. ListOffsets is the
exception (KIP-207): a leader does not answer latest before its high watermark has reached the
beginning of its epoch, so latest never goes back, unless a deposed leader answers who does not know
it yet. A restarted replica begins at its last checkpoint, in the same epoch if it follows.

A follower takes over the high watermark that its leader tells it. If the leader is new and lags,
Kafka's followers go back to it, in the epoch that they had named with their old one already (its
log calls that a non-monotonic update, and does it). So others are held to their leaders alone, who
only ever increment; the reference does not let go what it has shown.

A final read is a read up to a latest offset that was asked after the last append was settled. An
acknowledged append beyond that offset is lost: KFK-054 sees it, and KFK-031 and KFK-035 what is
missing or replaced below.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import LED, PROTOCOL, RUNNING, kafka_rule, not_before
from harness.rules import Holds

WATERMARKS = "Watermarks"
LISTS = "ListOffsets"
DELETIONS = "DeleteRecords"

LED_BOUNDS = "part_led_bounds"


def rising(
    bound: str, told: str, known: str = "had been shown more", *, table: str = "part_bounds"
) -> Holds:
    """No answer names less than what was known of the bound before it was asked for."""
    return Holds(
        table=table,
        when=f"bound = '{bound}'",
        holds=not_before("asked_at", "shown_earlier"),
        show=("bound", "node", "epoch", "level", "asked_at", "shown_earlier", "shown_op"),
        times="times",
        evidence=f"{table}_told",
        words=(
            f"{told} {{level}}, asked at {{asked_at}}",
            "by node {node} in epoch {epoch}",
            f"op {{shown_op}} {known} at {{shown_earlier}}",
        ),
    )


def searched(when: str, holds: str, *show: str) -> Holds:
    """About an answer to a search by timestamp."""
    asked = ("asked_timestamp", "answered_offset", "found_timestamp")
    return Holds(
        table="part_timestamps",
        when=when,
        holds=holds,
        show=(*asked, *show),
        words=(
            "the search for timestamp {asked_timestamp} finds offset {answered_offset}",
            "of timestamp {found_timestamp}",
            "a record as late stands at {first_as_late}",
            "one was known since {known_since}",
        ),
    )


RULES = (
    kafka_rule(
        id="KFK-050",
        section=WATERMARKS,
        source="KIP-101",
        sentence="The high watermark of a replica does not fall within a leader epoch.",
        assumes=RUNNING,
        judge=rising("high_watermark", "the high watermark is"),
        tolerant=rising("high_watermark", "the high watermark is", table=LED_BOUNDS),
        hint="an append was acknowledged, or shown, before the high watermark had passed it",
    ),
    kafka_rule(
        id="KFK-051",
        section=WATERMARKS,
        source="KIP-98",
        sentence="The last stable offset of a replica does not fall within a leader epoch.",
        assumes=RUNNING,
        judge=rising("last_stable_offset", "the last stable offset is"),
        tolerant=rising("last_stable_offset", "the last stable offset is", table=LED_BOUNDS),
        hint="a transaction that was decided counts as open again",
    ),
    kafka_rule(
        id="KFK-052",
        section=WATERMARKS,
        source="KIP-107",
        sentence="The log start of a replica does not fall within a leader epoch.",
        assumes=RUNNING,
        judge=rising("log_start_offset", "the log start is"),
        hint="deleted segments that are found again, or records served from below the log start",
    ),
    kafka_rule(
        id="KFK-054",
        requests=("list_offsets",),
        section=LISTS,
        source="KIP-207",
        sentence="The latest offset is not below what was acknowledged or shown before it.",
        assumes=LED,
        judge=Holds(
            table="part_reach",
            when="NOT appended AND (after_acks OR after_answers)",
            holds=not_before("asked_at", "acked_earlier", "shown_earlier"),
            show=(
                "told",
                "asked_at",
                "acked_earlier",
                "acked_op",
                "acked_offset",
                "shown_earlier",
                "shown_op",
                "shown_end",
            ),
            times="times",
            evidence="part_reach_told",
            words=(
                "latest is {told}, asked at {asked_at}",
                "op {acked_op} had been acknowledged offset {acked_offset} at {acked_earlier}",
                "op {shown_op} had been shown a log up to {shown_end} at {shown_earlier}",
            ),
        ),
        hint="acknowledged records are gone, or a new leader answers before it has caught up",
    ),
    kafka_rule(
        id="KFK-060",
        requests=("list_offsets",),
        section=LISTS,
        source="KIP-79",
        sentence="The timestamp found is not before the one that was asked for.",
        judge=Holds(
            table="offsets_listed",
            when="type = 'ok' AND asked_timestamp >= 0 AND answered_offset >= 0"
            " AND found_timestamp IS NOT NULL",
            holds="found_timestamp >= asked_timestamp",
            show=("asked_timestamp", "answered_offset", "found_timestamp", "node"),
            words=(
                "node {node} finds offset {answered_offset} of timestamp {found_timestamp}",
                "asked for {asked_timestamp}",
            ),
        ),
        hint="the index names the batch; the record in it is still to be found",
    ),
    kafka_rule(
        id="KFK-061",
        requests=("list_offsets",),
        section=LISTS,
        source="KIP-79",
        sentence="No record before the offset found has a timestamp as late as the one asked for.",
        assumes=(*LED, "log-kept"),
        judge=searched(
            "asked_timestamp >= 0 AND answered_offset >= 0",
            "coalesce(first_as_late >= answered_offset, TRUE)",
            "first_as_late",
        ),
        hint="timestamps do not rise with offsets; the first match counts, not the nearest",
    ),
    kafka_rule(
        id="KFK-062",
        requests=("list_offsets",),
        section=LISTS,
        source="KIP-79",
        sentence="A search by timestamp finds an offset if a record as late was known before.",
        assumes=(*LED, "log-kept"),
        judge=searched(
            "asked_timestamp >= 0 AND known_since < asked_at AND NOT late_below",
            "answered_offset >= 0",
            "first_as_late",
            "known_since",
        ),
        hint="is every segment searched, also those that are not local?",
    ),
    kafka_rule(
        id="KFK-063",
        requests=("list_offsets",),
        section=LISTS,
        source="KIP-734",
        sentence="No record that was known before is later than the maximum timestamp found.",
        assumes=(*LED, "log-kept"),
        judge=searched(
            "asked_timestamp = -3 AND answered_offset >= 0 AND found_timestamp IS NOT NULL",
            "coalesce(known_since >= asked_at, TRUE)",
            "first_as_late",
            "known_since",
        ),
        hint="the maximum of the last segment is not that of the log",
    ),
    kafka_rule(
        id="KFK-065",
        requests=("delete_records",),
        section=DELETIONS,
        source="KIP-107",
        sentence="After DeleteRecords was answered nobody is served a record below its offset.",
        assumes=(*LED, "replica-up"),
        judge=rising("deleted_served", "a record is served at offset", "had deleted more"),
        hint="is the log start kept by every live replica before the answer?",
    ),
    kafka_rule(
        id="KFK-066",
        requests=("delete_records",),
        section=DELETIONS,
        source="KIP-107",
        sentence="After DeleteRecords was answered no log start below its offset is named.",
        assumes=(*LED, "replica-up"),
        judge=rising("deleted_told", "the log start is", "had deleted more"),
        hint="a new leader takes its log start from its own log, not from its predecessor",
    ),
    kafka_rule(
        id="KFK-067",
        requests=("delete_records",),
        section=DELETIONS,
        source=f"KIP-107; {PROTOCOL}, DeleteRecords",
        sentence="DeleteRecords answers with a log start at or beyond the offset asked for.",
        judge=Holds(
            table="responses",
            when="f = 'delete_records' AND type = 'ok' AND asked_offset >= 0"
            " AND log_start_offset IS NOT NULL",
            holds="log_start_offset >= asked_offset",
            show=("asked_offset", "log_start_offset", "node"),
            words=(
                "node {node} answers with the log start {log_start_offset}",
                "asked to delete up to {asked_offset}",
            ),
        ),
        hint="answered before the slowest live replica had moved its log start",
    ),
)
