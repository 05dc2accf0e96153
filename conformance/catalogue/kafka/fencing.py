"""Transactional producers and their epochs: who is replaced is shut out, everywhere.

An epoch is *handed out* by InitProducerId, and from transaction version 2 on (KIP-890) by every end
of a transaction. A producer is replaced once an InitProducerId of its id is answered with a newer
epoch; what it asks for later is refused, whether it asks a coordinator or a partition leader. Not
promised, hence not judged: what becomes of a request that was under way then.
"""

from __future__ import annotations

from conformance.catalogue.kafka.fragments import DURABLE, kafka_rule
from harness.rules import Holds

FENCING = "Fencing"

_FENCED = "('PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH')"
# What says nothing about the producer: another one has to be asked, or later.
_PASSES = (
    "('COORDINATOR_LOAD_IN_PROGRESS', 'COORDINATOR_NOT_AVAILABLE', 'NOT_COORDINATOR',"
    " 'CONCURRENT_TRANSACTIONS', 'NOT_LEADER_OR_FOLLOWER', 'LEADER_NOT_AVAILABLE',"
    " 'UNKNOWN_TOPIC_OR_PARTITION', 'REQUEST_TIMED_OUT', 'NOT_ENOUGH_REPLICAS',"
    " 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 'NETWORK_EXCEPTION')"
)


def requests(when: str, holds: str) -> Holds:
    """About what a producer asked for after another was given a newer epoch."""
    return Holds(
        table="requests_superseded",
        when=f"newest > producer_epoch AND {when}",
        holds=holds,
        show=("f", "producer_id", "producer_epoch", "newest", "error"),
        words=(
            "producer {producer_id} asks for {f} in epoch {producer_epoch}",
            "epoch {newest} was handed out before",
            "it is answered {error}",
        ),
    )


def batches(when: str, holds: str, *show: str, words: tuple[str, ...]) -> Holds:
    """About a batch and the one of its producer before it in the log."""
    return Holds(
        table="producer_batches",
        when=when,
        holds=holds,
        show=("node", "base_offset", "producer_id", "producer_epoch", *show),
        words=(
            "node {node} shows producer {producer_id} at offset {base_offset}",
            "in epoch {producer_epoch}",
            *words,
        ),
    )


RULES = (
    kafka_rule(
        id="KFK-240",
        section=FENCING,
        source="KIP-98; KIP-890",
        sentence="Nothing is done for a producer once a newer epoch of it was handed out.",
        assumes=DURABLE,
        judge=requests("TRUE", "type <> 'ok'"),
        hint="coordinators compare epochs, and leaders have what begins a transaction verified",
    ),
    kafka_rule(
        id="KFK-241",
        section=FENCING,
        source="KIP-360; KIP-588",
        sentence="A producer that was replaced is told so.",
        assumes=DURABLE,
        judge=requests(
            "error IS NOT NULL AND type <> 'ok'", f"error IN {_FENCED} OR error IN {_PASSES}"
        ),
        hint="PRODUCER_FENCED or INVALID_PRODUCER_EPOCH, by request and version",
    ),
    kafka_rule(
        id="KFK-242",
        section=FENCING,
        source="KIP-98",
        sentence="Each epoch that is handed out is newer than those before.",
        assumes=DURABLE,
        judge=Holds(
            table="epochs_handed",
            when="earlier IS NOT NULL",
            holds="given_epoch > earlier OR NOT anew AND given_epoch = earlier",
            show=("f", "transactional_id", "given_id", "given_epoch", "earlier"),
            words=(
                "{transactional_id} is given epoch {given_epoch} of producer {given_id} by {f}",
                "epoch {earlier} was handed out before",
            ),
        ),
        hint="every producer that begins anew replaces the one before it",
    ),
    kafka_rule(
        id="KFK-243",
        section=FENCING,
        source="KIP-890",
        sentence="An end gives a client of version 2 the next epoch, or another id.",
        assumes=DURABLE,
        judge=Holds(
            table="epochs_handed",
            when="f = 'end_txn' AND version >= 2",
            holds="given_id = producer_id AND given_epoch = producer_epoch + 1"
            " OR given_id <> producer_id AND given_epoch = 0",
            show=("transactional_id", "producer_id", "producer_epoch", "given_id", "given_epoch"),
            words=(
                "producer {producer_id} ends a transaction of epoch {producer_epoch}",
                "it is given epoch {given_epoch} of producer {given_id}",
            ),
        ),
        hint="also where the end is asked for again because its answer was lost",
    ),
    kafka_rule(
        id="KFK-244",
        section=FENCING,
        source="KIP-98; KIP-890",
        sentence="In a log the epochs of a producer never fall, markers included.",
        assumes=DURABLE,
        judge=batches(
            "before_epoch IS NOT NULL",
            "producer_epoch >= before_epoch",
            "before_epoch",
            "before_offset",
            words=("behind epoch {before_epoch} at offset {before_offset}",),
        ),
        hint="a marker has the epoch of its transaction, or the next one",
    ),
    kafka_rule(
        id="KFK-245",
        section=FENCING,
        source="KIP-98; KIP-890",
        sentence="Sequence numbers of a producer go on in a log, and begin at 0 in a new epoch.",
        assumes=DURABLE,
        judge=batches(
            "marker IS NULL AND data_epoch IS NOT NULL",
            "CASE WHEN producer_epoch = data_epoch"
            " THEN base_sequence = (data_sequence + 1) % 2147483648 ELSE base_sequence = 0 END",
            "base_sequence",
            "data_epoch",
            "data_sequence",
            words=(
                "with sequence {base_sequence}",
                "its last was {data_sequence} in epoch {data_epoch}",
            ),
        ),
        hint="a marker has no sequence number and uses none up",
    ),
    kafka_rule(
        id="KFK-246",
        section=FENCING,
        source="KIP-98; KIP-360; KIP-890",
        sentence="What asks for an end or a beginning again is answered by what was done before.",
        assumes=DURABLE,
        judge=Holds(
            table="ends_and_beginnings_repeated",
            when=f"error IS NULL OR error NOT IN {_PASSES}",
            holds="CASE WHEN due = 'NONE' THEN type = 'ok'"
            " AND coalesce(given_epoch = due_epoch OR given_id <> id AND given_epoch = 0, TRUE)"
            f" WHEN due = 'PRODUCER_FENCED' THEN error IN {_FENCED} ELSE error = due END",
            show=(
                *("f", "transactional_id", "as_id", "as_epoch", "error", "given_epoch"),
                *("before_f", "id", "epoch", "due", "due_epoch"),
            ),
            words=(
                "{transactional_id} asks for {f} as epoch {as_epoch} of producer {as_id}",
                "before, {before_f} left it with epoch {epoch} of producer {id}",
                "it is answered {error}",
                "and given epoch {given_epoch}",
                "due is {due}",
                "and epoch {due_epoch}",
            ),
        ),
        hint="a repeated end is told what it was; the other decision, or another id, is refused",
    ),
)
