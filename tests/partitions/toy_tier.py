"""A toy of tiered storage: a region below the local log, one object for each segment.

It exists to prove the seam: segments of a partition whose topic begins with ``tier`` can be moved
to the object store. Consumers read them there, in a time of their own; followers are told to look
there; deleted records go there too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from reference_impl.kafka.batches import batches, intact
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import records
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.searches import TimestampOffset
from reference_impl.partitions.catalog import Authority
from reference_impl.partitions.logical import Extension, LogicalPartition
from reference_impl.partitions.participants import Event, RoleChanged, Started
from reference_impl.partitions.routing import ReadOutcome
from reference_impl.partitions.searching import Search, SearchEnd
from reference_impl.partitions.stores import Measured, Range, Store, StoreRead
from reference_impl.partitions.views import Region, RegionKind
from reference_impl.ports import Ports
from reference_impl.ports.object_store import ObjectNotFound, StoreUnavailable
from reference_impl.replication.copying import RestartPoint
from reference_impl.replication.fetcher import KeptElsewhere
from reference_impl.replication.leaders_log import LeadersLog, LeadersStart
from reference_impl.replication.partition import Partition


@dataclass(frozen=True, slots=True)
class Copied:
    """A segment in the store."""

    start: int
    end: int
    key: str


class TierExtension(Extension):
    """What one broker knows of one partition's copied segments."""

    def __init__(self, tier: ToyTier, partition: LogicalPartition) -> None:
        self.prefix = f"tier/{partition.topic_id}/{partition.index}/"
        self.segments: list[Copied] = []
        self.ambiguous = False
        self._tier = tier

    async def learn(self) -> None:
        """List what is in the store."""
        found = await self._tier.ports.object_store.list(self.prefix)
        self.segments = [copied(one.key) for one in found]

    def regions(self, regions: tuple[Region, ...]) -> tuple[Region, ...]:
        if not self.segments:
            return regions
        start, end = self.segments[0].start, self.segments[-1].end
        return (*regions, Region(RegionKind.TIERED, start, end))

    def last_tiered(self) -> int | None:
        return self.segments[-1].end - 1 if self.segments else -1

    async def delete_records(self, before: int) -> None:
        gone = [one for one in self.segments if one.end <= before]
        self.segments = [one for one in self.segments if one.end > before]
        await self._tier.ports.object_store.delete([one.key for one in gone])

    def holding(self, offset: int) -> Copied | None:
        """The segment with an offset."""
        return next((one for one in self.segments if one.start <= offset < one.end), None)


def copied(key: str) -> Copied:
    """What the name of an object says."""
    start, _, end = key.rpartition("/")[2].partition("-")
    return Copied(int(start), int(end.partition(".")[0]), key)


def moves(topic: str) -> bool:
    """Whether segments of a topic are moved."""
    return topic.startswith("tier")


class ToyTier:
    """The storage of one broker; ``peers`` are those of all brokers, this one too."""

    def __init__(self, peers: list[ToyTier], ports: Ports, broker_id: int) -> None:
        self.ports = ports
        self.broker_id = broker_id
        self.partitions: dict[str, tuple[LogicalPartition, TierExtension]] = {}
        self.delay_s = 0.0
        self._peers = peers
        peers.append(self)

    @property
    def participant(self) -> ToyTier:
        return self

    @property
    def elsewhere(self) -> KeptElsewhere:
        return KeptElsewhere(older=moves, remote_aux=self)

    async def build(
        self, partition: Partition, *, leader: LeadersStart, ask: LeadersLog
    ) -> RestartPoint:
        """The epochs and producers of all that was copied, from the batches themselves."""
        extension = self.partitions[partition.topic][1]
        await extension.learn()
        epochs: list[EpochEntry] = []
        for segment in extension.segments:
            data = await self._get(segment.key)
            for _, batch in batches(data):
                if not epochs or batch.partition_leader_epoch > epochs[-1].epoch:
                    epochs.append(EpochEntry(batch.partition_leader_epoch, batch.base_offset))
        if not extension.segments or extension.segments[-1].end < leader.local_log_start_offset:
            raise KafkaError(ErrorCode.kafka_storage_error, "the tier does not reach so far")
        return RestartPoint(
            offset=leader.local_log_start_offset,
            log_start_offset=leader.log_start_offset,
            epochs=tuple(epochs),
            producers=(),
        )

    @property
    def stores(self) -> dict[RegionKind, Store]:
        return {RegionKind.TIERED: cast(Store, self)}

    async def stop(self, *, clean: bool) -> None:
        return

    @property
    def authorities(self) -> dict[RegionKind, Authority]:
        return {}

    async def hear(self, partition: LogicalPartition, event: Event) -> None:
        if not moves(partition.topic):
            return
        if isinstance(event, Started):
            extension = TierExtension(self, partition)
            partition.extensions = (extension,)
            self.partitions[partition.topic] = (partition, extension)
        elif isinstance(event, RoleChanged):
            await self.partitions[partition.topic][1].learn()

    async def move(self, topic: str, *, keep: int = 1, remove: bool = True) -> None:
        """Copy all segments but the last ones, then remove them from this disk."""
        partition, extension = self.partitions[topic]
        assert partition.replica is not None
        log = partition.replica.log
        for segment, after in zip(log.segments[:-keep], log.segments[1:], strict=False):
            data = await segment.file.read(0, segment.size)
            name = f"{segment.base_offset:020}-{after.base_offset:020}"
            await self.ports.object_store.put(extension.prefix + name, data)
        for peer in self._peers:
            if topic in peer.partitions:
                await peer.partitions[topic][1].learn()
        if remove:
            await log.delete_local_segments(log.segments[-keep].base_offset)

    # ── store ────────────────────────────────────────────────────────────────────────────────────

    async def measure(self, wanted: Range) -> Measured | StoreRead:
        extension = self.partitions[wanted.partition.topic][1]
        found = extension.holding(wanted.offset)
        if extension.ambiguous:
            return StoreRead(ReadOutcome.AMBIGUOUS)
        if found is None:
            return StoreRead(ReadOutcome.GONE)
        return Measured(wanted, wanted.max_bytes, found)

    async def read_many(
        self, ranges: Sequence[Measured], *, timeout_s: float
    ) -> Sequence[StoreRead]:
        return await asyncio.gather(*(self._read(one, timeout_s) for one in ranges))

    async def _read(self, one: Measured, timeout_s: float) -> StoreRead:
        try:
            async with asyncio.timeout(timeout_s):
                data = await self._get(cast(Copied, one.where).key)
        except TimeoutError:
            return StoreRead(ReadOutcome.LATE)
        except ObjectNotFound:
            await self.partitions[one.range.partition.topic][1].learn()
            return StoreRead(ReadOutcome.GONE)
        try:
            return self._cut(data, one.range)
        except KafkaError:
            return StoreRead(ReadOutcome.CORRUPT)

    async def _get(self, key: str) -> bytes:
        await asyncio.sleep(self.delay_s)
        while True:
            try:
                return await self.ports.object_store.get(key)
            except StoreUnavailable:
                await asyncio.sleep(0.05)

    def _cut(self, data: bytes, wanted: Range) -> StoreRead:
        found = b""
        for at, batch in batches(data):
            if not intact(data, at, batch):
                return StoreRead(ReadOutcome.CORRUPT)
            if batch.last_offset < wanted.offset or batch.base_offset >= wanted.upto:
                continue
            if len(found) + batch.size > wanted.max_bytes and (found or not wanted.at_least_one):
                break
            found += data[at : at + batch.size]
        return StoreRead(ReadOutcome.RECORDS if found else ReadOutcome.CORRUPT, found)

    async def find_timestamp_many(
        self, wanted: Sequence[tuple[LogicalPartition, Search, int]], *, timeout_s: float
    ) -> Sequence[SearchEnd]:
        return await asyncio.gather(*(self._find(*one, timeout_s) for one in wanted))

    async def _find(
        self, partition: LogicalPartition, search: Search, timestamp: int, timeout_s: float
    ) -> SearchEnd:
        try:
            async with asyncio.timeout(timeout_s):
                for segment in self.partitions[partition.topic][1].segments:
                    data = await self._get(segment.key)
                    for at, batch in batches(data):
                        for one in records(data, at):
                            within = search.start <= one.offset < search.end
                            if one.timestamp >= timestamp and within:
                                epoch = batch.partition_leader_epoch
                                found = TimestampOffset(
                                    timestamp=one.timestamp, offset=one.offset, leader_epoch=epoch
                                )
                                return SearchEnd(found)
        except (TimeoutError, ObjectNotFound, KafkaError):
            return SearchEnd(error=ErrorCode.kafka_storage_error)
        return SearchEnd()
