"""The transactions of one partition of ``__transaction_state``, while this broker leads it.

They are read once from the log when leadership begins, and belong to that leader epoch, which is
the coordinator's epoch in every marker. A change is appended, and true once it is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from reference_impl.coordinators.compaction import append_again, begin_there, is_worth_it
from reference_impl.coordinators.transaction_records import (
    UnknownRecord,
    id_of,
    key_of,
    read_value,
    value_of,
)
from reference_impl.coordinators.transactions import (
    NO_PRODUCER_EPOCH,
    Transaction,
    TransactionState,
)
from reference_impl.coordinators.whole_log import whole_log
from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import build_batch, records
from reference_impl.log.log import Log
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.writing import acknowledged

ALL = -1


@dataclass(slots=True, kw_only=True)
class Entry:
    """A transactional id. ``pending`` is the state it is on its way to."""

    transaction: Transaction
    pending: TransactionState | None = None
    failed_fence: bool = False  # the epoch was bumped, and that could not be written


@dataclass(slots=True, kw_only=True, eq=False)
class Led:
    """A partition that this broker leads, in one leader epoch."""

    index: int
    epoch: int
    turn: asyncio.Lock  # of all epochs: who reads the log waits for appends of the one before
    entries: dict[str, Entry] = field(default_factory=dict)
    loaded: bool = False


@decision("coordinator-error")
def coordinator_error(error: ErrorCode) -> ErrorCode:
    """What a client is told of an append to the coordinator's log that failed: to try again, here
    or at another coordinator."""
    match error:
        case (
            ErrorCode.unknown_topic_or_partition
            | ErrorCode.not_enough_replicas
            | ErrorCode.not_enough_replicas_after_append
            | ErrorCode.request_timed_out
        ):
            return ErrorCode.coordinator_not_available
        case ErrorCode.not_leader_or_follower | ErrorCode.kafka_storage_error:
            return ErrorCode.not_coordinator
        case ErrorCode.message_too_large | ErrorCode.record_list_too_large:
            return ErrorCode.unknown_server_error
        case _:
            return error


async def load(
    partition: LogicalPartition, led: Led, until: Callable[[Log, int], Awaitable[None]]
) -> None:
    """Read what the log says, from its beginning to its end; the last record of an id counts.

    ``until`` returns when the log is committed up to there: what a successor might not find must
    not be acted upon.
    """
    replica = partition.replica
    if replica is None:
        raise KafkaError(ErrorCode.not_leader_or_follower)
    found: dict[str, Entry] = {}
    end = replica.log.log_start_offset
    async with led.turn:
        async for data, at, batch in whole_log(replica.log):
            end = batch.next_offset
            for record in records(data, at) if not batch.control else ():
                _take(found, record.key or b"", record.value)
    await until(replica.log, end)
    led.entries = found
    led.loaded = True


def _take(found: dict[str, Entry], key: bytes, value: bytes | None) -> None:
    try:
        transactional_id = id_of(key)
        if value is None:
            found.pop(transactional_id, None)
        else:
            found[transactional_id] = Entry(transaction=read_value(transactional_id, value))
    except UnknownRecord:
        return  # of a version that came later


async def write(
    partition: LogicalPartition,
    led: Led,
    is_current: Callable[[Led], bool],
    transactional_id: str,
    to: Transaction | None,
    *,
    now_ms: int,
    timeout_s: float,
) -> ErrorCode:
    """Append what a transaction is to be, None if it is to be forgotten; what became of it.

    It is decided by what was so in this epoch, and belongs into no other: another broker may have
    led in between, and the next epoch must not find anything behind what it has read.
    """
    value = None if to is None else value_of(to)
    batch = build_batch([(now_ms, key_of(transactional_id), value)])
    try:
        async with led.turn:
            if not is_current(led):
                return ErrorCode.not_coordinator
            pending = await partition.append(batch, acks=ALL, leader_epoch=led.epoch)
    except KafkaError as error:
        return coordinator_error(error.code)
    ended = await acknowledged([pending], timeout_s=timeout_s)
    return coordinator_error(ended[0].error)


async def compact(
    partition: LogicalPartition,
    led: Led,
    is_current: Callable[[Led], bool],
    *,
    now_ms: int,
    timeout_s: float,
) -> bool:
    """Let the log say what counts and nothing else, where that is worth it; whether it was done.

    Nothing may be on its way: the last record of an id has to be what is known of it. Of an id
    whose first record could not be written nothing counts.
    """
    replica = partition.replica
    if replica is None:
        return False
    async with led.turn:
        known = [one for one in led.entries.values() if one.transaction.epoch != NO_PRODUCER_EPOCH]
        busy = any(one.pending is not None for one in led.entries.values())
        if busy or not is_current(led) or not is_worth_it(replica.log, len(known)):
            return False
        first = replica.log.log_end_offset
        live = [
            (key_of(one.transaction.transactional_id), value_of(one.transaction)) for one in known
        ]
        appended = await append_again(partition, live, now_ms=now_ms, leader_epoch=led.epoch)
    return await begin_there(replica.log, first, appended, timeout_s=timeout_s)
