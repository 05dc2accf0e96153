"""What a log answers at its edges: producers that come back, bounds, epochs, retention.

Of a producer everything that it tried has to be known, and nothing of it may overlap: then what the
log remembers follows from what it acknowledged. Five batches are remembered by whoever leads
without a break, the last one by whoever leads later. Both end where a producer may be forgotten:
one of its last batches is below the log start, where a replica that reads its log again does not
find it, or the last one is older than `producer.id.expiration.ms`.

Not promised, hence not judged: that a batch from before the last five is refused, or is not; what
becomes of a producer of which nothing is known; that a segment goes as soon as it may.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import (
    DURABLE,
    LED,
    PROTOCOL,
    READ,
    REPLICATION,
    RUNNING,
    UNBROKEN,
    kafka_rule,
)
from conformance.catalogue.kafka.liveness import IN_SYNC, LOOKS
from harness.rules import Holds
from spark_checkers.circumstances import DISKLESS

PRODUCERS = "Producers"
BOUNDS = "Bounds"
RETENTION = "Retention"

_STEADY = (*LED, "replica-up")
_OUT_OF_TURN = (
    "('OUT_OF_ORDER_SEQUENCE_NUMBER', 'DUPLICATE_SEQUENCE_NUMBER', 'UNKNOWN_PRODUCER_ID',"
    " 'INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED')"
)
_TOO_FEW = "('NOT_ENOUGH_REPLICAS', 'NOT_ENOUGH_REPLICAS_AFTER_APPEND')"
# What is too old is gone; what is left without the oldest segment is not too much, or nothing is.
_GONE = (
    "coalesce(answered_offset >= old_end, TRUE) AND (coalesce(bytes_left, 0) = 0"
    " OR coalesce(bytes_left - segment_bytes < retention_bytes, TRUE))"
)
_IN_TURN = f"coalesce(error NOT IN {_OUT_OF_TURN}, TRUE)"


def turns(when: str, holds: str) -> Holds:
    """About an attempt of a producer, all of whose earlier attempts are known."""
    return Holds(
        table="producer_turns",
        when=f"NOT forgettable AND {when}",
        holds=holds,
        show=(
            "producer_id",
            "producer_epoch",
            "base_sequence",
            "last_epoch",
            "last_sequence",
            "last_offset",
            "first_offset",
            "back",
            "answered_offset",
            "error",
        ),
        words=(
            "producer {producer_id} sends sequence {base_sequence} in epoch {producer_epoch}",
            "its last was {last_sequence} in epoch {last_epoch}, at offset {last_offset}",
            "the batch was acknowledged offset {first_offset} before, {back} batches ago",
            "it is answered {error}",
            "it is given offset {answered_offset}",
        ),
    )


def bounds(when: str, holds: str) -> Holds:
    """About a request for an offset, with what the same replica showed before and later."""
    return Holds(
        table="bounds_asked",
        when=when,
        holds=holds,
        show=(
            "f",
            "node",
            "asked_offset",
            "error",
            "log_start_offset",
            "start_before",
            "reach",
            "high_later",
        ),
        words=(
            "node {node} answers {f} of offset {asked_offset} with {error}",
            "with the log start {log_start_offset}",
            "it had named the log start {start_before}",
            "it had shown the log up to {reach}",
            "later it names the high watermark {high_later}",
        ),
    )


RULES = (
    kafka_rule(
        id="KFK-150",
        section=PRODUCERS,
        source="KIP-98",
        sentence="One of a producer's last five batches, sent again, is answered as at first.",
        assumes=_STEADY,
        judge=turns(
            "expected = 'repeat'",
            f"{_IN_TURN} AND (type <> 'ok' OR answered_offset = first_offset)",
        ),
        hint="are all five searched, first and last sequence numbers compared?",
    ),
    kafka_rule(
        id="KFK-151",
        section=PRODUCERS,
        source="KIP-98",
        sentence="A producer's last batch, sent again, is not appended again, whoever leads.",
        assumes=DURABLE,
        judge=turns(
            "expected = 'repeat' AND back = 0", "type <> 'ok' OR answered_offset = first_offset"
        ),
        hint="what a replica knows of producers after it read its log again",
    ),
    kafka_rule(
        id="KFK-152",
        section=PRODUCERS,
        source="KIP-98",
        sentence="A batch that follows its producer's last, or begins a newer epoch, is appended.",
        assumes=LED,
        judge=turns(
            "expected = 'append'", f"{_IN_TURN} AND (type <> 'ok' OR answered_offset > last_offset)"
        ),
        hint="after 2^31-1 comes 0; a newer epoch begins at 0",
    ),
    kafka_rule(
        id="KFK-153",
        section=PRODUCERS,
        source="KIP-98",
        sentence="A batch whose sequence number does not follow its producer's last is refused.",
        assumes=DURABLE,
        judge=turns(
            "expected = 'gap'", "type <> 'ok' AND coalesce(error <> 'INVALID_PRODUCER_EPOCH', TRUE)"
        ),
        hint="OUT_OF_ORDER_SEQUENCE_NUMBER; also in a newer epoch that does not begin at 0",
    ),
    kafka_rule(
        id="KFK-154",
        section=PRODUCERS,
        source="KIP-360",
        sentence="A batch of an older epoch than its producer's last is refused.",
        assumes=DURABLE,
        judge=turns(
            "expected = 'fenced'",
            "type <> 'ok' AND coalesce(error <> 'OUT_OF_ORDER_SEQUENCE_NUMBER', TRUE)",
        ),
        hint="INVALID_PRODUCER_EPOCH, whatever its sequence number",
    ),
    kafka_rule(
        id="KFK-155",
        section=PRODUCERS,
        source="documentation, Broker configs: producer.id.expiration.ms",
        sentence="A producer that is silent for producer.id.expiration.ms is forgotten in time.",
        assumes=DURABLE,
        judge=Holds(
            table="producers_silent",
            when=f"taken OR (lasted_ns >= bound_ns AND tries >= {LOOKS})",
            holds="taken",
            show=("producer_id", "silent_ms", "expiration_ms", "tries", "last_error", "bound_s"),
            words=(
                "producer {producer_id} is silent for {silent_ms} ms of {expiration_ms}",
                "the last of {tries} attempts to begin elsewhere is answered {last_error}",
                "the bound is {bound_s} s",
            ),
        ),
        hint="is the time of its latest record compared, and is it looked at at all?",
    ),
    kafka_rule(
        id="KFK-156",
        section=BOUNDS,
        source="KIP-74",
        sentence="A fetch is given its first batch whole, and beside it no more than it asked for.",
        judge=Holds(
            table="responses",
            when=f"{READ} AND max_bytes IS NOT NULL AND bytes > 0 AND request IS NULL",
            holds="first_batch_bytes BETWEEN 1 AND bytes"
            " AND bytes <= greatest(max_bytes, first_batch_bytes)",
            show=("node", "asked_offset", "max_bytes", "bytes", "first_batch_bytes"),
            words=(
                "node {node} serves {bytes} bytes from offset {asked_offset}",
                "asked for {max_bytes}",
                "the first batch has {first_batch_bytes}",
            ),
        ),
        hint="max_bytes of the request and of the partition; the first batch comes whole",
    ),
    kafka_rule(
        id="KFK-157",
        section=BOUNDS,
        source="KIP-320",
        sentence="Whoever names another leader epoch than the current one is refused, no one else.",
        assumes=RUNNING,
        allowed_under=(DISKLESS,),
        judge=Holds(
            table="epochs_named",
            when="type = 'ok' OR error IN ('FENCED_LEADER_EPOCH', 'UNKNOWN_LEADER_EPOCH')",
            holds="CASE WHEN type = 'ok' THEN coalesce(named >= confirmed, TRUE)"
            " AND coalesce(named <= told_later, TRUE)"
            " WHEN named IS NULL THEN FALSE"
            " WHEN error = 'FENCED_LEADER_EPOCH' THEN coalesce(named < told_later, TRUE)"
            " ELSE coalesce(named > confirmed, TRUE) END",
            show=("node", "f", "named", "error", "confirmed", "told_later"),
            words=(
                "node {node} answers {f} that names epoch {named} with {error}",
                "it had confirmed epoch {confirmed}",
                "later it names epoch {told_later}",
            ),
        ),
        hint="FENCED_LEADER_EPOCH for older ones, UNKNOWN_LEADER_EPOCH for newer ones",
    ),
    kafka_rule(
        id="KFK-158",
        requests=("offset_for_leader_epoch",),
        section=BOUNDS,
        source="KIP-320",
        sentence="A leader says where every epoch up to its own ends, and of later ones nothing.",
        allowed_under=(DISKLESS,),
        judge=Holds(
            table="responses",
            when="f = 'offset_for_leader_epoch' AND type = 'ok'"
            " AND current_leader_epoch IS NOT NULL AND asked_epoch IS NOT NULL",
            holds="CASE WHEN asked_epoch < 0 OR asked_epoch > current_leader_epoch"
            " THEN coalesce(answered_offset, -1) < 0"
            " ELSE coalesce(answered_offset, -1) >= 0 AND coalesce(leader_epoch, -1) <= asked_epoch"
            " AND (asked_epoch < current_leader_epoch"
            " OR coalesce(leader_epoch = asked_epoch, FALSE)) END",
            show=("node", "asked_epoch", "current_leader_epoch", "leader_epoch", "answered_offset"),
            words=(
                "asked about epoch {asked_epoch} in epoch {current_leader_epoch}",
                "node {node} answers with epoch {leader_epoch}",
                "and the end {answered_offset}",
            ),
        ),
        hint="the largest epoch that is not beyond the one asked about",
    ),
    kafka_rule(
        id="KFK-160",
        requests=("delete_records",),
        section=BOUNDS,
        source=f"KIP-107; {PROTOCOL}, DeleteRecords",
        sentence="DeleteRecords up to the high watermark is carried out, beyond it refused.",
        assumes=_STEADY,
        judge=bounds(
            "f = 'delete_records' AND (type = 'ok' OR error = 'OFFSET_OUT_OF_RANGE')",
            "CASE WHEN type <> 'ok' THEN asked_offset < -1"
            " OR coalesce(asked_offset >= 0 AND asked_offset > reach, asked_offset >= 0)"
            " WHEN asked_offset = -1 THEN coalesce(log_start_offset >= reach, TRUE)"
            " ELSE coalesce(asked_offset <= high_later, TRUE) END",
        ),
        hint="-1 is the high watermark; a log start that is lower than the present one is no error",
    ),
    kafka_rule(
        id="KFK-172",
        requests=("delete_records",),
        section=BOUNDS,
        source="KIP-107",
        sentence="What DeleteRecords removed stays removed where brokers stop in good order.",
        judge=Holds(
            table="deletions_across_stops",
            when="level >= 0",
            holds="least_told >= level",
            show=("node", "level", "least_told"),
            words=(
                "records below {level} were deleted",
                "after a stop in good order node {node} names the log start {least_told}",
            ),
        ),
        hint="the log start is written down before a broker ends",
    ),
    kafka_rule(
        id="KFK-161",
        section=BOUNDS,
        source=f"{PROTOCOL}, OFFSET_OUT_OF_RANGE",
        sentence="A fetch below the log start or beyond the end of the log is refused.",
        assumes=_STEADY,
        judge=bounds(
            "f = 'fetch' AND type = 'ok'",
            "coalesce(asked_offset >= start_before, TRUE)"
            " AND coalesce(asked_offset <= high_later + sent, TRUE)",
        ),
        hint="both bounds; the end itself is in range",
    ),
    kafka_rule(
        id="KFK-162",
        requests=("list_offsets",),
        section=BOUNDS,
        unproven=UNBROKEN,
        source="KIP-79",
        sentence="A search by timestamp names the timestamp and the epoch of the record it finds.",
        assumes=DURABLE,
        judge=Holds(
            table="searches_found",
            when="TRUE",
            holds="coalesce(found_timestamp = timestamp, TRUE)"
            " AND coalesce(found_epoch = leader_epoch, TRUE)",
            show=(
                "asked_timestamp",
                "answered_offset",
                "found_timestamp",
                "timestamp",
                "found_epoch",
                "leader_epoch",
            ),
            words=(
                "the search for timestamp {asked_timestamp} finds offset {answered_offset}",
                "of timestamp {found_timestamp}",
                "of epoch {found_epoch}",
                "the record there was read with timestamp {timestamp}",
                "in epoch {leader_epoch}",
            ),
        ),
        hint="the batch was found, and another record of it named",
    ),
    kafka_rule(
        id="KFK-163",
        section=RETENTION,
        source="documentation, Topic configs: retention.ms, retention.bytes",
        sentence="Retention leaves what is younger than retention.ms and within retention.bytes.",
        assumes=DURABLE,
        judge=Holds(
            table="retention_taken",
            when="age_ms IS NOT NULL",
            holds="retention_ms >= 0 AND age_ms > retention_ms"
            " OR coalesce(bytes_left >= retention_bytes, FALSE)",
            show=(
                "node",
                "start_told",
                "age_ms",
                "retention_ms",
                "bytes_left",
                "retention_bytes",
            ),
            words=(
                "node {node} names the log start {start_told}",
                "a record below it is {age_ms} ms old at most, retention.ms is {retention_ms}",
                "{bytes_left} bytes are left at most",
                "retention.bytes is {retention_bytes}",
            ),
        ),
        hint="the latest record of a segment counts, and what is left without the segment",
    ),
    kafka_rule(
        id="KFK-164",
        section=RETENTION,
        source="documentation, Topic configs: retention.ms, retention.bytes",
        sentence="Segments that are older than retention.ms, or too many, are gone in time.",
        assumes=LED,
        judge=Holds(
            table="retention_due",
            when=f"({_GONE}) OR (lasted_ns >= bound_ns AND tries >= {LOOKS})",
            holds=_GONE,
            show=(
                "answered_offset",
                "old_end",
                "retention_ms",
                "bytes_left",
                "retention_bytes",
                "tries",
                "bound_s",
            ),
            words=(
                "in the last of {tries} looks the log starts at {answered_offset}",
                "what is below {old_end} is older than retention.ms, {retention_ms}",
                "{bytes_left} bytes are left, retention.bytes is {retention_bytes}",
                "the bound is {bound_s} s",
            ),
        ),
        hint="does the log begin new segments, and does it look at old ones?",
    ),
    kafka_rule(
        id="KFK-166",
        section=IN_SYNC,
        source=f"{REPLICATION}; {PROTOCOL}, Produce",
        sentence="An append that does not ask for all replicas is not refused for too few of them.",
        judge=Holds(
            table="responses",
            when="f = 'produce' AND acks IN (0, 1) AND error IS NOT NULL",
            holds=f"error NOT IN {_TOO_FEW}",
            show=("node", "acks", "error"),
            words=("node {node} answers an append with acks={acks} with {error}",),
        ),
        hint="min.insync.replicas is about acks=all alone",
    ),
)
