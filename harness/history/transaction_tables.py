"""Tables about transactions: what was asked of coordinators, what readers were given of the batches
of a log, its markers and the list of aborted transactions, and what brokers say is open.

A fetch that tells its `batches` is laid out by batch, beside its records: [first offset, last
offset, producer id, producer epoch, first sequence, leader epoch, transactional, marker, epoch of
the coordinator], the last two null unless it is the marker of a transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .pairing import Operation
from .sends import Emit, Row, named, told_offset, whole

ACTIVE_PRODUCERS: Final = "describe_active_producers"
"""DescribeProducers of a partition; the control plane has a call of the other name."""
TRANSACTION_REQUESTS: Final = frozenset(
    {
        "init_producer_id",
        "add_partitions_to_txn",
        "add_offsets_to_txn",
        "txn_offset_commit",
        "end_txn",
    }
)
_LOOKS: Final = frozenset({"describe_transactions", "list_transactions"})

_ASKED = """
op          bigint  index of the invoke line
completion  bigint  index of the completion line; null if there is none
process     bigint  the logical process
node        bigint  the node that was asked
f           string  what was asked
type        string  ok, fail or info
error       string  name of the error; null where none was recorded
clock       string  the time domain of all times of the row
began       bigint  when it was asked, in order units
ended       bigint  when it was over; null for info
answered    bigint  when its completion was recorded, also for info; null if there is none
"""
_OF_LOG = (
    _ASKED
    + """
topic       string  topic
partition   int     partition
"""
)
_OF_FETCH = """
isolation           string  read_committed or read_uncommitted
asked_offset        bigint  offset that the fetch asked for
high_watermark      bigint  high watermark of the answer
last_stable_offset  bigint  last stable offset of the answer
log_start_offset    bigint  log start of the answer
"""

TRANSACTION_TABLES: Final[Mapping[str, tuple[str, str]]] = {
    "transactions": (
        "end_txn: the end that was asked for a transaction",
        """
op           bigint   index of the invoke line
completion   bigint   index of the completion line; null if there is none
process      bigint   the logical process
transaction  string   name of the transaction
committed    boolean  whether it was to be committed; false asks to abort
type         string   ok, fail or info
error        string   name of the error; null where none was recorded
clock        string   the time domain of began and ended
began        bigint   when it was asked
ended        bigint   when the outcome was known; null for info
""",
    ),
    "transaction_requests": (
        "request of a transactional producer to a coordinator, answered or not",
        _ASKED
        + """
invoked_ns        bigint   time of the invoke line, by its clock
completed_ns      bigint   time of the completion line, by its clock; null if there is none
transactional_id  string   the transactional id
transaction       string   name of the transaction it belongs to; null if none
version           int      transaction version that the client speaks: 1, or 2 (KIP-890)
producer_id       bigint   producer id that the request names; null for -1
producer_epoch    bigint   its epoch; null for -1
given_id          bigint   producer id that was given; null if none
given_epoch       bigint   its epoch; null if none
committed         boolean  end_txn: whether it was to be committed
timeout_ms        bigint   init_producer_id: how long a transaction may take
group_id          string   the group whose offsets join; null if none
""",
    ),
    "log_batches": (
        "whole batch in the answer to a fetch that tells its batches",
        _OF_LOG
        + _OF_FETCH
        + """
position           int      place of the batch in the answer, from 0
base_offset        bigint   its first offset
last_offset        bigint   its last offset
producer_id        bigint   its producer; null for -1
producer_epoch     bigint   the epoch of the producer
base_sequence      bigint   the first sequence number
leader_epoch       bigint   the leader epoch
transactional      boolean  whether it belongs to a transaction
marker             string   commit or abort; null if it is no marker
coordinator_epoch  bigint   epoch of the coordinator that had the marker written
""",
    ),
    "aborted_listed": (
        "transaction that a fetch of committed records lists as aborted",
        _OF_LOG
        + _OF_FETCH
        + """
producer_id   bigint  its producer
first_offset  bigint  where it begins in this log
""",
    ),
    "producers_told": (
        "producer that the leader of a partition remembers; one with nulls if there is none",
        _OF_LOG
        + """
producer_id        bigint  the producer
producer_epoch     bigint  its epoch
last_sequence      bigint  its last sequence number
coordinator_epoch  bigint  epoch of the coordinator of its last marker
open_from          bigint  where its open transaction begins; -1 if none is open
""",
    ),
    "transactions_told": (
        "transaction that a coordinator describes or lists; one with nulls if none is listed",
        _ASKED
        + """
transactional_id  string  the transactional id
state             string  its state
producer_id       bigint  its producer
producer_epoch    bigint  the epoch of the producer; null where it is only listed
""",
    ),
    "transaction_partitions": (
        "partition that a coordinator names as part of a transaction that it describes",
        _OF_LOG
        + """
transactional_id  string  the transactional id
state             string  its state
producer_id       bigint  its producer
producer_epoch    bigint  the epoch of the producer
""",
    ),
}


def lay_out_request(operation: Operation, shared: Row, emit: Emit) -> None:
    """What a transactional producer asked, and who it is from then on."""
    invoke, completion = operation.invoke, operation.completion or {}
    if "transactional_id" not in invoke:
        return
    names = ("transactional_id", "version", "committed", "timeout_ms")
    row: Row = {name: invoke.get(name) for name in names}
    row |= {
        "transaction": invoke.get("transaction") or None,
        "invoked_ns": invoke["time"],
        "completed_ns": completion.get("time"),
        "producer_id": named(whole(invoke.get("producer_id"))),
        "producer_epoch": named(whole(invoke.get("producer_epoch"))),
        "given_id": named(whole(completion.get("given_id"))),
        "given_epoch": named(whole(completion.get("given_epoch"))),
        "group_id": invoke.get("group"),
    }
    emit("transaction_requests", shared | row)


def lay_out_batches(operation: Operation, shared: Row, emit: Emit) -> None:
    """The batches of a fetch, and what it lists as aborted."""
    invoke, completion = operation.invoke, operation.completion or {}
    if completion.get("batches") is None:
        return
    row: Row = shared | {
        "isolation": invoke.get("isolation"),
        "asked_offset": invoke.get("offset"),
        "high_watermark": told_offset(completion.get("high_watermark")),
        "last_stable_offset": told_offset(completion.get("last_stable_offset")),
        "log_start_offset": told_offset(completion.get("log_start_offset")),
    }
    for position, batch in enumerate(completion["batches"]):
        emit("log_batches", row | {"position": position} | _batch(batch))
    for producer_id, first in completion.get("aborted") or ():
        listed = {"producer_id": whole(producer_id), "first_offset": told_offset(first)}
        emit("aborted_listed", row | listed)


def _batch(batch: list[Any]) -> Row:
    base, last, producer, epoch, sequence, leader, transactional, marker, coordinator = batch
    return {
        "base_offset": told_offset(base),
        "last_offset": told_offset(last),
        "producer_id": named(whole(producer)),
        "producer_epoch": named(whole(epoch)),
        "base_sequence": named(whole(sequence)),
        "leader_epoch": named(whole(leader)),
        "transactional": bool(transactional),
        "marker": marker,
        "coordinator_epoch": whole(coordinator),
    }


def lay_out_producers(operation: Operation, shared: Row, emit: Emit) -> None:
    """The producers of a partition, each."""
    told = (operation.completion or {}).get("producers")
    names = ("producer_id", "producer_epoch", "last_sequence", "coordinator_epoch", "open_from")
    for one in told or ([None] * len(names),):
        emit("producers_told", shared | dict(zip(names, map(whole, one), strict=True)))


def lay_out_transactions(operation: Operation, shared: Row, emit: Emit) -> None:
    """The transactions that a coordinator tells of, each."""
    invoke, completion = operation.invoke, operation.completion or {}
    if shared["f"] == "describe_transactions":
        row: Row = {
            "transactional_id": invoke.get("transactional_id"),
            "state": completion.get("state"),
            "producer_id": named(whole(completion.get("told_id"))),
            "producer_epoch": named(whole(completion.get("told_epoch"))),
        }
        emit("transactions_told", shared | row)
        for topic, number in completion.get("written") or ():
            place = {"topic": topic, "partition": whole(number)}
            emit("transaction_partitions", shared | row | place)
        return
    for one in completion.get("transactions") or ([None, None, None],):
        transactional_id, state, producer_id = one
        row = {"transactional_id": transactional_id, "state": state, "producer_id": producer_id}
        emit("transactions_told", shared | row)


TRANSACTION_LAY_OUT: Final = {
    **dict.fromkeys(sorted(TRANSACTION_REQUESTS), lay_out_request),
    "fetch": lay_out_batches,
    ACTIVE_PRODUCERS: lay_out_producers,
    **dict.fromkeys(sorted(_LOOKS), lay_out_transactions),
}
