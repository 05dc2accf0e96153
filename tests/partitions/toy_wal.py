"""A toy of diskless storage: a region above a boundary, known by an authority that all share.

It exists to prove the seam: a partition whose topic begins with ``wal`` can be moved from its
local log to a shared list of batches. Appends are refused while the boundary moves, reads end at
it, followers stop there, and a broker without a replica serves what lies above.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID

from reference_impl.kafka.batches import batches, header, stamped
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.records import records
from reference_impl.log.searches import TimestampOffset
from reference_impl.log.transactions import EndMarker, marker_batch
from reference_impl.partitions.bounding import NOWHERE
from reference_impl.partitions.extensions import Extension
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.participants import (
    BoundaryMoved,
    CannotLead,
    Event,
    RoleChanged,
    Started,
)
from reference_impl.partitions.refreshing import Authority
from reference_impl.partitions.routing import ReadOutcome
from reference_impl.partitions.searching import Search, SearchEnd
from reference_impl.partitions.stores import Measured, Range, Store, StoreRead
from reference_impl.partitions.views import Bounds, Refreshed, Region, RegionKind, Role
from reference_impl.partitions.writing import Boundary, Ended, Pending
from reference_impl.ports import Ports
from reference_impl.replication.decisions import Reader
from reference_impl.replication.fetcher import KeptElsewhere
from reference_impl.replication.partition import Partition
from reference_impl.replication.watching import Watched, until

Key = tuple[UUID, int]


@dataclass(slots=True)
class WalLog:
    """What the authority knows of one partition."""

    boundary: int
    start: int
    end: int
    stored: list[bytes] = field(default_factory=list)


class ToyAuthority:
    """Shared by all brokers. ``delay_s`` makes it slow, ``trouble`` makes it fail."""

    def __init__(self) -> None:
        self.logs: dict[Key, WalLog] = {}
        self.delay_s = 0.01
        self.trouble: Refreshed | None = None
        self.asked = 0
        self.gaps: list[int] = []  # brokers that may not lead
        self.extensions: list[WalExtension] = []

    async def known(self, keys: Sequence[Key]) -> list[WalLog | None] | Refreshed:
        """What it knows of several partitions, in one call; or how the call failed."""
        self.asked += 1
        await asyncio.sleep(self.delay_s)
        return self.trouble or [self.logs.get(key) for key in keys]

    async def set_boundary(self, key: Key, offset: int) -> None:
        """The WAL of a partition begins there."""
        await asyncio.sleep(self.delay_s)
        self.logs[key] = WalLog(boundary=offset, start=offset, end=offset)

    async def commit(self, key: Key, data: bytes, leader_epoch: int) -> tuple[int, ErrorCode]:
        """Give a batch its offsets."""
        await asyncio.sleep(self.delay_s)
        if self.trouble is not None:
            return -1, ErrorCode.kafka_storage_error
        log, batch = self.logs[key], header(data)
        base = log.end
        placed = stamped(data, 0, batch, base_offset=base, leader_epoch=leader_epoch)
        log.stored.append(bytes(placed))
        log.end = base + batch.last_offset_delta + 1
        for extension in self.extensions:
            extension.learn(key, log)
        return base, ErrorCode.none


class WalExtension(Extension):
    """What one broker knows of one partition's WAL."""

    def __init__(self, wal: ToyWal, partition: LogicalPartition) -> None:
        self.key = (partition.topic_id, partition.index)
        self.log: WalLog | None = None
        self.end = -1
        self.copies = False  # whether a local copy of the WAL is being made
        self._wal = wal
        self._partition = partition

    def learn(self, key: Key, log: WalLog | None) -> None:
        """The authority said something about a partition."""
        if key == self.key and log is not None:
            self.log, self.end = log, log.end
            self._partition.boundary_is(log.boundary)

    def forget(self) -> None:
        """What was known in another epoch does not count."""
        self.log = None
        self._partition.boundary = Boundary.UNKNOWN

    def regions(self, regions: tuple[Region, ...]) -> tuple[Region, ...]:
        replica = self._partition.replica
        if self.log is None and self._partition.boundary is not Boundary.UNKNOWN:
            return regions
        if self.log is None:
            end = 0 if replica is None else replica.log.log_end_offset
            return (*regions, Region(RegionKind.WAL, end, known=False))
        boundary = self.log.boundary
        local = tuple(one._replace(end=boundary) for one in regions)
        copying = (Region(RegionKind.ASSEMBLING, boundary),) if self.copies else ()
        return (*copying, *local, Region(RegionKind.WAL, boundary))

    def bounds(self, bounds: Bounds, reader: Reader) -> Bounds:
        if self.log is None or reader is Reader.FOLLOWER:
            return bounds
        start = self.log.start
        if bounds != NOWHERE and start <= self.log.boundary:
            start = bounds.log_start_offset
        return bounds._replace(
            log_start_offset=start,
            high_watermark=self.end,
            last_stable_offset=self.end,
            log_end_offset=self.end,
        )

    async def delete_records(self, before: int) -> None:
        if self.log is not None:
            self.log.start = max(self.log.start, before)

    def writer(self) -> WalWriter:
        return WalWriter(self._wal, self._partition)


class WalPending:
    """A batch on its way: neither its offset nor its fate is known before it is committed."""

    def __init__(
        self, wal: ToyWal, partition: LogicalPartition, data: bytes, epoch: int | None
    ) -> None:
        self._partition = partition
        self._ended: Ended | None = None
        key = (partition.topic_id, partition.index)
        known = partition.state.leader_epoch if epoch is None else epoch
        self._task = asyncio.get_running_loop().create_task(self._commit(wal, key, data, known))

    async def _commit(self, wal: ToyWal, key: Key, data: bytes, epoch: int) -> None:
        base, error = await wal.authority.commit(key, data, epoch)
        self._ended = Ended(error, base)
        self._partition.wake()

    @property
    def watched(self) -> Sequence[Watched]:
        return (self._partition,)

    def decided(self) -> Ended | None:
        return self._ended

    def out_of_time(self) -> Ended:
        return Ended(ErrorCode.request_timed_out)


class WalWriter:
    """Takes batches once the boundary is set."""

    def __init__(self, wal: ToyWal, partition: LogicalPartition) -> None:
        self._wal = wal
        self._partition = partition

    async def append(
        self, records: bytes, *, acks: int, guard: int, sequenced: bool, leader_epoch: int | None
    ) -> Pending:
        return WalPending(self._wal, self._partition, records, leader_epoch)

    async def append_marker(
        self, producer_id: int, producer_epoch: int, marker: EndMarker, *, bumps: bool
    ) -> Pending:
        data = marker_batch(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            marker=marker,
            timestamp_ms=self._wal.ports.clock.now_ms(),
        )
        return WalPending(self._wal, self._partition, data, None)


class ToyWal:
    """The storage of one broker: participant, store and authority in one."""

    def __init__(self, authority: ToyAuthority, ports: Ports, broker_id: int) -> None:
        self.authority = authority
        self.ports = ports
        self.broker_id = broker_id
        self.boundaries: dict[str, int] = {}  # as they were told, by topic
        self.partitions: dict[str, tuple[LogicalPartition, WalExtension]] = {}

    @property
    def participant(self) -> ToyWal:
        return self

    @property
    def elsewhere(self) -> KeptElsewhere:
        return KeptElsewhere(boundary_of=self._boundary_of)

    def _boundary_of(self, replica: Partition) -> int | None:
        return self.boundaries.get(replica.topic)

    @property
    def stores(self) -> dict[RegionKind, Store]:
        return {RegionKind.WAL: cast(Store, self)}

    async def stop(self, *, clean: bool) -> None:
        return

    @property
    def authorities(self) -> dict[RegionKind, Authority]:
        return {RegionKind.WAL: cast(Authority, self)}

    async def hear(self, partition: LogicalPartition, event: Event) -> None:
        if not partition.topic.startswith("wal"):
            return
        if isinstance(event, Started):
            extension = WalExtension(self, partition)
            partition.extensions = (extension,)
            self.partitions[partition.topic] = (partition, extension)
            self.authority.extensions.append(extension)
        elif isinstance(event, BoundaryMoved):
            self.boundaries[partition.topic] = event.offset
        elif isinstance(event, RoleChanged):
            self.boundaries.pop(partition.topic, None)
            await self._role(partition, event.role)

    async def _role(self, partition: LogicalPartition, role: Role) -> None:
        _, extension = self.partitions[partition.topic]
        extension.forget()
        if role is not Role.LEADER:
            return
        if self.broker_id in self.authority.gaps:
            raise CannotLead("a gap below the boundary")
        await self.refresh([partition])
        if extension.log is None:
            partition.boundary = Boundary.NONE  # the authority has none, so the log goes on
            partition.wake()

    async def refresh(self, partitions: Sequence[LogicalPartition]) -> Sequence[Refreshed]:
        known = await self.authority.known([(one.topic_id, one.index) for one in partitions])
        if isinstance(known, Refreshed):
            return [known] * len(partitions)
        for partition, log in zip(partitions, known, strict=True):
            _, extension = self.partitions[partition.topic]
            extension.learn(extension.key, log)
        return [Refreshed.DONE] * len(partitions)

    async def move(self, topic: str) -> int:
        """Move a partition that this broker leads: no more appends, all is committed, then B0."""
        partition, extension = self.partitions[topic]
        replica = partition.replica
        assert replica is not None
        async with replica.appends_held():
            partition.boundary = Boundary.MOVING
        log = replica.log
        while True:
            await until(
                lambda: log.high_watermark == log.log_end_offset, partition.watched, timeout_s=30
            )
            async with replica.appends_held():  # by now it may have ended a transaction
                if log.high_watermark == log.log_end_offset:
                    await self._set_boundary(partition, extension.key, log.log_end_offset)
                    return log.log_end_offset

    async def _set_boundary(self, partition: LogicalPartition, key: Key, offset: int) -> None:
        await self.authority.set_boundary(key, offset)
        for one in self.authority.extensions:
            if one._wal.broker_id in partition.state.replicas:
                one.learn(key, self.authority.logs[key])

    # ── store ────────────────────────────────────────────────────────────────────────────────────

    async def measure(self, wanted: Range) -> Measured | StoreRead:
        log = self.authority.logs[wanted.partition.topic_id, wanted.partition.index]
        found, size = [], 0
        for data in log.stored:
            batch = header(data)
            if batch.last_offset < wanted.offset or batch.base_offset >= wanted.upto:
                continue
            if size + len(data) > wanted.max_bytes and (found or not wanted.at_least_one):
                break
            found.append(data)
            size += len(data)
        return Measured(wanted, size, found) if found else StoreRead(ReadOutcome.RECORDS)

    async def read_many(
        self, ranges: Sequence[Measured], *, timeout_s: float
    ) -> Sequence[StoreRead]:
        if self.authority.delay_s > timeout_s:
            await asyncio.sleep(timeout_s)
            return [StoreRead(ReadOutcome.LATE) for _ in ranges]
        await asyncio.sleep(self.authority.delay_s)
        return [
            StoreRead(ReadOutcome.RECORDS, b"".join(cast(list[bytes], one.where))) for one in ranges
        ]

    async def find_timestamp_many(
        self, wanted: Sequence[tuple[LogicalPartition, Search, int]], *, timeout_s: float
    ) -> Sequence[SearchEnd]:
        if self.authority.trouble is not None:
            return [SearchEnd(error=ErrorCode.kafka_storage_error) for _ in wanted]
        return [self._find(*one) for one in wanted]

    def _find(self, partition: LogicalPartition, search: Search, timestamp: int) -> SearchEnd:
        for data in self.authority.logs[partition.topic_id, partition.index].stored:
            for at, batch in batches(data):
                for record in records(data, at):
                    if record.timestamp >= timestamp and search.start <= record.offset < search.end:
                        found = TimestampOffset(
                            timestamp=record.timestamp,
                            offset=record.offset,
                            leader_epoch=batch.partition_leader_epoch,
                        )
                        return SearchEnd(found)
        return SearchEnd()
