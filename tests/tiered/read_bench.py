"""A replica whose older offsets are in the remote tier, on one simulated node."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from harness.simulation.levers import SimLevers
from reference_impl.kafka.batches import batches
from reference_impl.kafka.records import records
from reference_impl.log.config import LogConfig
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.log import Log
from reference_impl.log.transactions import AbortedTransaction
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.searching import Search, SearchEnd
from reference_impl.partitions.stores import Measured, Range, StoreRead
from reference_impl.partitions.views import Region, RegionKind
from reference_impl.tiered.index_cache import IndexCache
from reference_impl.tiered.object_storage import segment_prefix
from reference_impl.tiered.reader_pool import ReaderPool
from reference_impl.tiered.reading import TieredStore
from reference_impl.tiered.remote_indexes import RemoteIndexes
from reference_impl.tiered.segments import (
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    SegmentState,
)
from reference_impl.tiered.settings import TieredSettings
from tests.tiered.remote_segments import ORDERS, copy_of
from tests.tiered.tier_bench import TierBench, tier_bench

Result = TypeVar("Result")
EVERYTHING = 1 << 20


class ReadBench:
    """The store, and a log that begins on this disk at ``local_start``."""

    def __init__(self, bench: TierBench) -> None:
        self.bench = bench
        self.tier = bench.tier
        self.levers = SimLevers(bench.node.sim)
        ports, settings = bench.tier.ports, bench.tier.settings
        self.indexes = RemoteIndexes(
            bench.tier.storage, IndexCache(ports.disk, "", lambda: settings().index_cache_bytes)
        )
        self.pool = ReaderPool(
            lambda: settings().reader_threads,
            lambda: settings().reader_max_pending_tasks,
            ports.clock.monotonic_ns,
        )
        self.store = TieredStore(bench.tier, self.indexes, self.pool)
        self.log: Log
        self.partition: LogicalPartition

    async def begin(
        self, local_start: int, lineage: Sequence[tuple[int, int]], *, log_start: int = 0
    ) -> None:
        """A log whose offsets below ``local_start`` are kept elsewhere."""
        ports = self.tier.ports
        config = LogConfig.of({"index.interval.bytes": "1"})
        self.log = await Log.open(
            ports.disk, "orders-0", config=config, clock=ports.clock, clean=True,
            older_elsewhere=True,
        )  # fmt: skip
        epochs = [EpochEntry(*one) for one in lineage]
        await self.log.restart_at(local_start, log_start_offset=log_start, epochs=epochs)
        self.partition = cast(
            LogicalPartition,
            SimpleNamespace(
                topic=ORDERS.topic,
                topic_id=ORDERS.topic_id,
                index=ORDERS.partition,
                replica=SimpleNamespace(log=self.log),
            ),
        )

    async def copy(
        self,
        number: int,
        written: Sequence[bytes],
        *,
        epochs: Sequence[tuple[int, int]] | None = None,
        aborted: Sequence[AbortedTransaction] = (),
        leader_epoch: int | None = None,
    ) -> RemoteLogSegmentMetadata:
        """A finished segment of these batches, copied in an epoch: that of the last, or a later."""
        made = copy_of(number, written, epochs=epochs, aborted=aborted)
        metadata = replace(made.metadata, state=SegmentState.COPY_SEGMENT_STARTED)
        if leader_epoch is not None:
            metadata = replace(metadata, leader_epoch=leader_epoch)
        await self.bench.metadata.add_remote_log_segment_metadata(metadata)
        await self.tier.storage.copy_log_segment_data(metadata, made.data)
        await self.publish(metadata, SegmentState.COPY_SEGMENT_FINISHED)
        return metadata

    async def publish(self, metadata: RemoteLogSegmentMetadata, state: SegmentState) -> None:
        await self.bench.metadata.update_remote_log_segment_metadata(
            RemoteLogSegmentMetadataUpdate(
                segment_id=metadata.segment_id,
                leader_epoch=metadata.leader_epoch,
                event_timestamp_ms=metadata.event_timestamp_ms,
                state=state,
            )
        )

    def key(self, metadata: RemoteLogSegmentMetadata, part: str = "segment.log") -> str:
        return f"tiered/{segment_prefix(metadata)}/{part}"

    def now_s(self) -> float:
        return self.tier.ports.clock.monotonic_ns() / 1e9

    async def read(
        self,
        offset: int,
        *,
        upto: int | None = None,
        max_bytes: int = EVERYTHING,
        at_least_one: bool = True,
        committed: bool = False,
        epoch: int = -1,
        timeout_s: float = 0.5,
    ) -> StoreRead:
        """Read as one partition of a fetch."""
        wanted = Range(
            self.partition,
            offset,
            self.log.local_log_start_offset if upto is None else upto,
            max_bytes,
            at_least_one,
            epoch,
            committed=committed,
        )
        measured = await self.store.measure(wanted)
        if isinstance(measured, StoreRead):
            return measured
        assert isinstance(measured, Measured)
        (ended,) = await self.store.read_many([measured], timeout_s=timeout_s)
        return ended

    async def find(self, timestamp: int, *, timeout_s: float = 0.5) -> SearchEnd:
        """Search everything below the local log."""
        start, end = self.log.log_start_offset, self.log.local_log_start_offset
        search = Search(Region(RegionKind.TIERED, start, end), start, end)
        wanted = [(self.partition, search, timestamp)]
        (ended,) = await self.store.find_timestamp_many(wanted, timeout_s=timeout_s)
        return ended

    def counted(self, meter: Any) -> int:
        return int(meter.values.get((ORDERS.topic,), 0))


def values(read: StoreRead) -> list[str]:
    """The values of the records that were read."""
    return [
        (one.value or b"").decode()
        for at, _ in batches(read.records)
        for one in records(read.records, at)
    ]


@contextmanager
def read_bench(settings: TieredSettings | None = None) -> Iterator[ReadBench]:
    with tier_bench(settings) as bench:
        yield ReadBench(bench)


def on_bench(
    story: Callable[[ReadBench], Awaitable[Result]], settings: TieredSettings | None = None
) -> Result:
    """What a story on a bench comes to."""
    with read_bench(settings) as bench:
        return bench.bench.node.run(lambda: story(bench))
