"""What becomes of an append: its place, its payload, its one copy.

Offsets are the order of a log, so that order is verified and not searched for. An append that was
never acknowledged takes part where it was read. Kafka promises nothing of appends that not all
in-sync replicas acknowledged (acks other than -1), except that what is read of them stays.

Not promised, hence not judged: that a producer which is not idempotent writes once when it tries
twice; that values which were sent twice can be told apart; anything below the log start.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import (
    DURABLE,
    GUARANTEES,
    LASTING,
    ONCE,
    PROTOCOL,
    REPLICATION,
    kafka_rule,
    not_before,
)
from harness.rules import Holds

APPENDS = "Appends"


def sent(when: str, holds: str, *show: str, words: tuple[str, ...]) -> Holds:
    """About a record read and its send; what is exactly as acknowledged at its offset holds."""
    return Holds(
        table="reads_with_sends",
        when=f"settled OR ({when})",
        holds=f"settled OR ({holds})",
        show=("record_offset", "value", *show),
        times="times",
        words=words,
    )


RULES = (
    kafka_rule(
        id="KFK-030",
        section=APPENDS,
        source=GUARANTEES,
        sentence="An append that begins after another was acknowledged gets a higher offset.",
        assumes=DURABLE,
        judge=Holds(
            table="part_reach",
            when="appended AND after_acks",
            holds=not_before("asked_at", "acked_earlier"),
            show=(
                "told",
                "asked_at",
                "acked_earlier",
                "acked_op",
                "acked_offset",
            ),
            times="times",
            evidence="part_reach_told",
            words=(
                "it was given offset {told}, though it began at {asked_at}",
                "op {acked_op} had been acknowledged offset {acked_offset} at {acked_earlier}",
            ),
        ),
        hint="did a leader that had been replaced go on giving out offsets?",
    ),
    kafka_rule(
        id="KFK-031",
        section=APPENDS,
        source=GUARANTEES,
        sentence="A reader that passes the offset of an acknowledged append finds it there.",
        assumes=LASTING,
        judge=Holds(
            table="acknowledged_records_passed",
            when="TRUE",
            holds="found",
            show=("record_offset", "reader_op", "passed_from", "read_value"),
            times="times",
            words=(
                "it was acknowledged offset {record_offset}",
                "op {reader_op} does not find it there",
                "that one goes on from {passed_from} beyond it",
                "that one reads {read_value}",
            ),
        ),
        hint="acknowledged before it was durable, or cut off by a new leader",
    ),
    kafka_rule(
        id="KFK-032",
        section=APPENDS,
        source=REPLICATION,
        sentence="An append gets an offset that no answer had shown as written before it began.",
        assumes=DURABLE,
        judge=Holds(
            table="part_reach",
            when="appended AND after_answers",
            holds=not_before("asked_at", "shown_earlier"),
            show=(
                "told",
                "asked_at",
                "shown_earlier",
                "shown_op",
                "shown_end",
            ),
            times="times",
            evidence="part_reach_told",
            words=(
                "it was given offset {told}, though it began at {asked_at}",
                "op {shown_op} had been shown a log up to {shown_end} at {shown_earlier}",
            ),
        ),
        hint="a record that is read before it was sent, or an offset that is given out again",
    ),
    kafka_rule(
        id="KFK-033",
        section=APPENDS,
        source=f"{PROTOCOL}, error codes",
        sentence="A record whose send definitely failed is never read.",
        judge=Holds(
            table="part_failures",
            when="TRUE",
            holds="read_op IS NULL",
            show=("value", "record_offset", "read_op"),
            words=(
                "its record {value} failed",
                "op {read_op} read it, at offset {record_offset}",
            ),
        ),
        hint="refused after the append, or an error that does not prove failure",
    ),
    kafka_rule(
        id="KFK-034",
        section=APPENDS,
        source=REPLICATION,
        sentence="All who read an offset read the same record.",
        assumes=DURABLE,
        judge=Holds(
            table="reads_by_offset",
            when="TRUE",
            holds="agreed",
            show=("record_offset", "value", "other_op", "other_value"),
            times="times",
            words=(
                "at offset {record_offset} it read {value}",
                "op {other_op} did not read the same there",
                "it read {other_value}",
            ),
        ),
        hint="did replicas diverge, or was something served above the high watermark?",
    ),
    kafka_rule(
        id="KFK-035",
        section=APPENDS,
        source=GUARANTEES,
        sentence="At the offset of an acknowledged append no other record is read.",
        assumes=DURABLE,
        judge=Holds(
            table="reads_at_acknowledged_offsets",
            when="TRUE",
            holds="found",
            show=("record_offset", "value", "holder_op", "holder_value"),
            times="times",
            words=(
                "at offset {record_offset} it read {value}",
                "that offset was acknowledged to op {holder_op}",
                "op {holder_op} sent {holder_value} there",
            ),
        ),
        hint="a new leader that did not have it wrote over it",
    ),
    kafka_rule(
        id="KFK-036",
        section=APPENDS,
        source=f"{PROTOCOL}, record batch",
        sentence="A record is read with the key and the timestamp it was sent with.",
        judge=sent(
            "senders = 1",
            "(record_key IS NULL OR coalesce(record_key = sent_key, FALSE))"
            " AND coalesce(timestamp = sent_timestamp, TRUE)",
            "sent_op",
            "record_key",
            "sent_key",
            "timestamp",
            "sent_timestamp",
            words=(
                "at offset {record_offset} it read {value} of op {sent_op}",
                "with key {record_key}",
                "with timestamp {timestamp}",
                "sent with key {sent_key}",
                "sent with timestamp {sent_timestamp}",
            ),
        ),
        hint="a batch taken apart and put together again, or a field of another record",
    ),
    kafka_rule(
        id="KFK-037",
        section=APPENDS,
        source="KIP-98",
        sentence="A record acknowledged once is read at its acknowledged offset and nowhere else.",
        assumes=DURABLE,
        judge=sent(
            f"senders = 1 AND acknowledged_offset IS NOT NULL AND {ONCE}",
            "acknowledged_offset = record_offset",
            "acknowledged_offset",
            "sent_op",
            words=(
                "at offset {record_offset} it read {value}",
                "it was acknowledged to op {sent_op} at offset {acknowledged_offset}",
            ),
        ),
        hint="a second copy, or an acknowledgement that names another append's offset",
    ),
    kafka_rule(
        id="KFK-038",
        section=APPENDS,
        source="KIP-98",
        sentence="A send that is idempotent or was tried once is in the log at most once.",
        assumes=DURABLE,
        judge=Holds(
            table="copies_of_sends",
            when=f"settled OR {ONCE}",
            holds="settled OR offsets = positions",
            show=("base_offset", "last_base", "offsets", "positions", "producer_id", "attempts"),
            times="times",
            words=(
                "its {positions} records were read at {offsets} offsets",
                "as a batch that begins at {base_offset} and again at {last_base}",
                "by producer {producer_id}",
                "tried {attempts} times",
            ),
        ),
        hint="is the producer's state carried over to a new leader?",
    ),
    kafka_rule(
        id="KFK-039",
        section=APPENDS,
        source=REPLICATION,
        sentence="No offset is acknowledged to two appends.",
        assumes=DURABLE,
        judge=Holds(
            table="acknowledgements_by_offset",
            when="TRUE",
            holds="once",
            show=("record_offset", "other_op"),
            times="times",
            words=(
                "it was acknowledged offset {record_offset}",
                "op {other_op} was acknowledged that offset too",
            ),
        ),
        hint="two leaders at once, or an end of log that is not moved under the lock",
    ),
    kafka_rule(
        id="KFK-040",
        section=APPENDS,
        source=f"{PROTOCOL}, record batch",
        sentence="The records of one send follow each other in the log, in their order.",
        judge=Holds(
            table="copies_of_sends",
            when=f"settled AND batched OR {ONCE} AND offsets = positions"
            " AND (positions > 1 OR torn_at IS NOT NULL)",
            holds="settled OR base_offset = last_base AND torn_at IS NULL",
            show=("base_offset", "last_base", "positions", "torn_at"),
            times="times",
            words=(
                "its records are not one batch",
                "by where some were read it begins at {base_offset}",
                "by others at {last_base}",
                "a record of another send stands among them at {torn_at}",
            ),
        ),
        hint="a batch that was torn apart by another append",
    ),
    kafka_rule(
        id="KFK-041",
        section=APPENDS,
        source="KIP-98",
        sentence="A producer's sequence numbers are in the log once each, in their order.",
        assumes=DURABLE,
        judge=Holds(
            table="producer_sequences",
            # Sequence numbers begin again at 0 after 2^31 of them.
            when="producer_id IS NOT NULL AND base_sequence - earlier_sequence < 1073741824",
            holds="base_offset > earlier_offset AND base_sequence > earlier_last_sequence"
            " OR base_offset = earlier_offset AND base_sequence = earlier_sequence",
            show=(
                "producer_id",
                "base_sequence",
                "base_offset",
                "earlier_op",
                "earlier_sequence",
                "earlier_offset",
            ),
            words=(
                "producer {producer_id} has sequence {base_sequence} at offset {base_offset}",
                "op {earlier_op} has its {earlier_sequence} at offset {earlier_offset}",
            ),
        ),
        hint="a later request in flight was let in before an earlier one, or a repeated one again",
    ),
    kafka_rule(
        id="KFK-042",
        section=APPENDS,
        source=GUARANTEES,
        sentence="A record read among the appends of the history was sent by one of them.",
        judge=sent(
            "value IS NOT NULL AND record_offset >= first_offset AND NOT unplaced",
            "senders > 0",
            "first_offset",
            words=(
                "at offset {record_offset} it read {value}, which nobody sent",
                "the appends of this history begin at {first_offset}",
            ),
        ),
        hint="a value that nobody sent: damaged, or somebody else's",
    ),
)
