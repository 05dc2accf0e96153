"""How brokers answer: the checks and the waits of Kafka's own request handlers.

A handler acts at one moment. Those that wait, for replicas or for data, are tasks: leadership may
be lost meanwhile. A broker that is down answers `DOWN`, which nobody ever hears.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from spark_checkers.synthetic.loop import MS, Task, Until
from spark_checkers.synthetic.partition import Partition
from spark_checkers.synthetic.replica import LATEST, NOTHING, READ_COMMITTED, Entry, Replica

Answer: TypeAlias = dict[str, Any]

DOWN = "DOWN"
REPLICAS_WAIT_NS = 25 * MS
DUPLICATES_KEPT = 5


def refused(error: str) -> Answer:
    """An answer that is only an error."""
    return {"error": error}


def _objection(replica: Replica, named: int | None, *, leader: bool = True) -> str | None:
    """Why a broker does not answer, going by who leads and by the epoch that a request names."""
    if not replica.up:
        return DOWN
    if named is not None and named != replica.epoch:
        return "FENCED_LEADER_EPOCH" if named < replica.epoch else "UNKNOWN_LEADER_EPOCH"
    return "NOT_LEADER_OR_FOLLOWER" if leader and not replica.leads else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Records that are sent together. `producer` is id, epoch and first sequence."""

    records: tuple[tuple[str | None, int, str | None], ...]
    producer: tuple[int, int, int] | None = None
    transaction: str | None = None
    too_large: bool = False

    def entries(self, epoch: int, number: int, stamp: int | None) -> list[Entry]:
        """What a leader appends in its epoch; with a stamp of its own if it stamps records."""
        return [
            Entry(
                value=value,
                key=key,
                timestamp=timestamp if stamp is None else stamp,
                epoch=epoch,
                batch=number,
                producer=self.producer and (*self.producer[:2], self.producer[2] + at),
                transaction=self.transaction,
            )
            for at, (value, timestamp, key) in enumerate(self.records)
        ]


def produce(
    partition: Partition,
    node: int,
    batch: Batch,
    acks: int,
    *,
    is_open: Callable[[str | None], bool],
    stamp: Callable[[], int] | None,
) -> Task[Answer]:
    """Append a batch; with acks -1 wait until it is safe.

    `is_open` tells whether its transaction, if any, is; `stamp` the time, if the broker stamps.
    """
    replica = partition.replicas[node]
    error, base = _objection(replica, None), None
    if error is None and batch.too_large:
        error = "MESSAGE_TOO_LARGE"
    if error is None and acks == -1 and _alone(partition, replica):
        error = "NOT_ENOUGH_REPLICAS"
    if error is None:
        going_on = is_open(batch.transaction)
        error, base = _sequence(replica, batch) if going_on else ("INVALID_TXN_STATE", None)
    if error is not None:
        return refused(error)
    log_start, epoch = replica.start, replica.epoch
    if base is None:
        entries = batch.entries(epoch, partition.next_batch(), stamp() if stamp else None)
        base = partition.append(node, entries)
    if acks == -1:
        error = yield from _safe(partition, replica, base + len(batch.records))
        if error is not None:
            return refused(error)
    return {"error": "NONE", "offset": base, "log_start_offset": log_start}


def _safe(partition: Partition, replica: Replica, end: int) -> Task[str | None]:
    """Wait until all replicas in sync have everything below `end`; what went wrong, if it did."""
    epoch = replica.epoch
    came = yield Until(
        lambda: _lost(replica, epoch) or replica.high_watermark >= end, REPLICAS_WAIT_NS
    )
    if _lost(replica, epoch):
        return "NOT_LEADER_OR_FOLLOWER" if replica.up else DOWN
    if not came:
        return "REQUEST_TIMED_OUT"
    return "NOT_ENOUGH_REPLICAS_AFTER_APPEND" if _alone(partition, replica) else None


def _alone(partition: Partition, replica: Replica) -> bool:
    current = replica.epoch == partition.epoch
    return current and len(partition.in_sync) < partition.min_in_sync


def _lost(replica: Replica, epoch: int) -> bool:
    return not (replica.up and replica.leads and replica.epoch == epoch)


def _sequence(replica: Replica, batch: Batch) -> tuple[str | None, int | None]:
    """What an idempotent batch deserves: an error, the offset it has already, or neither."""
    if batch.producer is None:
        return None, None
    producer_id, epoch, first = batch.producer
    last = replica.last_sequence(producer_id)
    if last is None or epoch > last[0]:
        return (None, None) if first == 0 else ("OUT_OF_ORDER_SEQUENCE_NUMBER", None)
    if epoch < last[0]:
        return "INVALID_PRODUCER_EPOCH", None
    if first == last[1] + 1:
        return None, None
    if first > last[1]:
        return "OUT_OF_ORDER_SEQUENCE_NUMBER", None
    offset = replica.offset_of(batch.producer)
    behind = [e.batch for e in replica.log if e.producer and e.producer[0] == producer_id]
    kept = sorted(set(behind))[-DUPLICATES_KEPT:]
    if offset is None or replica.at(offset).batch not in kept:
        return "DUPLICATE_SEQUENCE_NUMBER", None
    return None, offset


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchAsked:
    """What a consumer asks for."""

    offset: int
    isolation: str
    epoch: int | None
    limit: int
    wait_ns: int
    starved: bool = False
    """Other partitions of the request took all its bytes."""
    prefer: int | None = None
    """The replica that the leader finds nearer to the reader."""


def fetch(partition: Partition, node: int, asked: FetchAsked) -> Task[Answer]:
    """Records from an offset on; without any, wait for some."""
    replica = partition.replicas[node]
    error = _objection(replica, asked.epoch, leader=False) or _range_error(replica, asked.offset)
    if error is not None:
        return refused(error)
    role = _role(replica)
    redirected = replica.leads and asked.prefer is not None
    if not redirected and not asked.starved:
        yield Until(
            lambda: _role(replica) != role or replica.bound(asked.isolation) > asked.offset,
            asked.wait_ns,
        )
    if _role(replica) != role:
        return refused("NOT_LEADER_OR_FOLLOWER" if replica.up else DOWN)
    if (error := _range_error(replica, asked.offset)) is not None:
        return refused(error)
    answer: Answer = {
        "error": "NONE",
        "high_watermark": replica.high_watermark,
        "last_stable_offset": _stable(replica, asked.isolation),
        "log_start_offset": replica.start,
    }
    if redirected or asked.starved:
        preferred = {"preferred_read_replica": asked.prefer} if redirected else {}
        return {**answer, **preferred, "records": (), "next_offset": asked.offset}
    read = replica.read(asked.offset, asked.isolation, asked.limit)
    return {**answer, "records": read.records, "next_offset": read.next_offset}


def _role(replica: Replica) -> tuple[bool, bool, int]:
    return replica.up, replica.leads, replica.epoch


def _range_error(replica: Replica, offset: int) -> str | None:
    return None if replica.start <= offset <= replica.end else "OFFSET_OUT_OF_RANGE"


def _stable(replica: Replica, isolation: str) -> int:
    """The last stable offset is told to those who asked for committed records only."""
    return replica.last_stable_offset if isolation == READ_COMMITTED else NOTHING


def list_offsets(
    partition: Partition, node: int, timestamp: int, isolation: str, epoch: int | None
) -> Answer:
    """Only leaders answer, and about their end only once all of the past is known to be safe."""
    replica = partition.replicas[node]
    if (error := _objection(replica, epoch)) is not None:
        return refused(error)
    offset, found, found_epoch = replica.find(timestamp, isolation)
    lagging = replica.epoch_start > replica.high_watermark
    if lagging and (timestamp == LATEST or offset == NOTHING):
        return refused("OFFSET_NOT_AVAILABLE")
    told = {"offset": offset, "found_timestamp": found, "leader_epoch": found_epoch}
    return {"error": "NONE", **told}


def delete_records(partition: Partition, node: int, offset: int) -> Task[Answer]:
    """Raise the log start; done when no replica that is up shows anything below."""
    replica = partition.replicas[node]
    wanted = replica.high_watermark if offset == NOTHING else offset
    error = _objection(replica, None)
    if error is None and wanted > replica.high_watermark:
        error = "OFFSET_OUT_OF_RANGE"
    if error is not None:
        return refused(error)
    replica.start = max(replica.start, wanted)
    epoch = replica.epoch
    done = yield Until(
        lambda: _lost(replica, epoch) or _below_is_gone(partition, replica, wanted),
        REPLICAS_WAIT_NS,
    )
    if _lost(replica, epoch):
        return refused("NOT_LEADER_OR_FOLLOWER" if replica.up else DOWN)
    if not done:
        return refused("REQUEST_TIMED_OUT")
    return {"error": "NONE", "log_start_offset": partition.low_watermark()}


def _below_is_gone(partition: Partition, replica: Replica, offset: int) -> bool:
    return replica.epoch == partition.epoch and partition.low_watermark() >= offset


def offset_for_leader_epoch(
    partition: Partition, node: int, asked: int, epoch: int | None
) -> Answer:
    """Where an epoch ends in the leader's log."""
    replica = partition.replicas[node]
    if (error := _objection(replica, epoch)) is not None:
        return refused(error)
    found, end = replica.epoch_end(asked)
    return {"error": "NONE", "leader_epoch": found, "offset": end}
