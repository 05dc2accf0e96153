"""Segments leave the disk while they are read or searched: nothing is skipped, nothing is lost.

A simulated disk answers at once, so that these races need files that take their time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from reference_impl.broker.list_offsets import _Searches
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import build_batch
from reference_impl.log.config import LogConfig
from reference_impl.log.log import Log
from reference_impl.log.searches import TimestampOffset
from reference_impl.partitions.catalog import Partitions
from reference_impl.partitions.logical import NOBODY, LogicalPartition
from reference_impl.partitions.routing import ReadOutcome
from reference_impl.partitions.searching import Search, SearchEnd
from reference_impl.partitions.stores import LocalStore, Measured, Range, StoreRead
from reference_impl.partitions.views import Bounds, FetchReader, Region, RegionKind
from reference_impl.replication.decisions import Reader
from reference_impl.replication.partition import Partition
from tests.ports.sim_node_benches import SimNodeBench, sim_node


class SlowFile:
    """A file; something happens before each read of it."""

    def __init__(self, inner: Any, before: Callable[[], Awaitable[None]]) -> None:
        self._inner = inner
        self._before = before

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def read(self, offset: int, count: int) -> bytes:
        await self._before()
        return bytes(await self._inner.read(offset, count))


async def twelve(bench: SimNodeBench) -> Log:
    """Offsets 0 to 11, three to a segment, all of them copied."""
    config = LogConfig.of({"index.interval.bytes": "1"})
    clock = bench.ports.clock
    log = await Log.open(
        bench.disk, "t-0", config=config, clock=clock, clean=True, older_elsewhere=True
    )
    for offset in range(12):
        if offset and offset % 3 == 0:
            await log.roll()
        sent = build_batch([(100 + offset, None, b"")])
        await log.append_as_leader(sent, leader_epoch=0)
    log.high_watermark = 12
    return log


def partition_of(log: Log) -> LogicalPartition:
    return cast(LogicalPartition, SimpleNamespace(replica=SimpleNamespace(log=log)))


async def read(log: Log, offset: int, epoch: int = -1) -> StoreRead:
    store = LocalStore()
    measured = await store.measure(Range(partition_of(log), offset, 12, 1 << 20, True, epoch))
    if isinstance(measured, Measured):
        (measured,) = await store.read_many([measured], timeout_s=1)
    return measured


@pytest.mark.parametrize("reads_before", range(4))
def test_a_read_of_a_segment_that_leaves_the_disk_has_its_offset_or_is_routed_again(
    reads_before: int,
) -> None:
    """Log start 0, local start 3, fetch at 5, and the local start goes to 6 (KAFKA-16073)."""

    async def story() -> StoreRead:
        log = await twelve(bench)
        await log.delete_local_segments(3)
        log.segments[0]._recent.clear()
        left = [reads_before]

        async def leave() -> None:
            left[0] -= 1
            if left[0] < 0:
                await log.delete_local_segments(6)

        log.segments[0].file = cast(Any, SlowFile(log.segments[0].file, leave))
        return await read(log, 5)

    with sim_node() as bench:
        ended = bench.run(story)
    if reads_before == 0:
        assert ended.outcome is ReadOutcome.GONE
    if ended.outcome is ReadOutcome.RECORDS:
        assert int.from_bytes(ended.records[:8], "big") == 5
    else:
        assert ended.outcome is ReadOutcome.GONE


@pytest.mark.parametrize(
    ("planned_in", "ended"),
    [(0, ReadOutcome.GONE), (1, ReadOutcome.RECORDS), (-1, ReadOutcome.RECORDS)],
)
def test_a_read_that_was_planned_in_another_lineage_is_routed_again(
    planned_in: int, ended: ReadOutcome
) -> None:
    """The log was cut off at 7 and went on in epoch 1, between the plan of a read at 8 and it."""

    async def story() -> StoreRead:
        log = await twelve(bench)
        await log.truncate_to(7)
        for offset in range(7, 10):
            sent = build_batch([(200 + offset, None, b"")])
            await log.append_as_leader(sent, leader_epoch=1)
        return await read(log, 8, planned_in)

    with sim_node() as bench:
        assert bench.run(story).outcome is ended


@pytest.mark.parametrize(("offset", "epoch"), [(8, 1), (5, 0), (12, -1)])
def test_a_plan_has_the_epoch_of_the_record_that_is_read(offset: int, epoch: int) -> None:
    async def story() -> int:
        log = await twelve(bench)
        await log.epochs.assign(1, 7)
        state = replace(NOBODY, leader_epoch=1)
        replica = SimpleNamespace(log=log, leads=True, state=state, followers={})
        one = LogicalPartition(topic="t", topic_id=UUID(int=1), index=0, broker_id=1)
        one.become(state, cast(Partition, replica))
        return one.plan_read(offset, FetchReader(Reader.CONSUMER, max_bytes=1)).epoch

    with sim_node() as bench:
        assert bench.run(story) == epoch


def test_a_search_of_a_segment_that_leaves_the_disk_is_an_error_and_finds_nothing_later() -> None:
    async def story() -> SearchEnd:
        log = await twelve(bench)
        log.segments[0]._recent.clear()

        async def leave() -> None:
            await log.delete_local_segments(6)

        log.segments[0].file = cast(Any, SlowFile(log.segments[0].file, leave))
        search = Search(Region(RegionKind.LOCAL, 0), 0, 12)
        (ended,) = await LocalStore().find_timestamp_many(
            [(partition_of(log), search, 101)], timeout_s=1
        )
        return ended

    with sim_node() as bench:
        assert bench.run(story) == SearchEnd(error=ErrorCode.kafka_storage_error)


# --- a segment that moves during a search ---------------------------------------------------------


class Moving(LogicalPartition):
    """A log of ten records, of which the remote tier has those below ``local_start``, and the disk
    the others; the record that is wanted is at 5. Both searches take their time."""

    def __init__(self, *, moves: int) -> None:
        super().__init__(topic="t", topic_id=UUID(int=1), index=0, broker_id=1)
        self.local_start = 3
        self.moves = moves
        self.searched: list[tuple[RegionKind, int, int]] = []

    def bounds(self, reader: Reader) -> Bounds:
        return Bounds(0, self.local_start, 10, 10, 10)

    def regions(self) -> tuple[Region, ...]:
        local = Region(RegionKind.LOCAL, self.local_start)
        return (local, Region(RegionKind.TIERED, 0, 10))

    async def find_timestamp_many(
        self, wanted: list[tuple[Any, Search, int]], *, timeout_s: float
    ) -> list[SearchEnd]:
        ((_, search, _),) = wanted
        kind = search.region.kind
        self.searched.append((kind, search.start, search.end))
        await asyncio.sleep(0.01)
        if kind is RegionKind.TIERED and self.moves:
            self.moves -= 1
            self.local_start += 3
        await asyncio.sleep(0.01)
        start = self.local_start if kind is RegionKind.LOCAL else 0
        if max(search.start, start) <= 5 < search.end:
            return [SearchEnd(TimestampOffset(timestamp=7, offset=5, leader_epoch=0))]
        return [SearchEnd()]


async def searched(moving: Moving, timeout_s: float) -> object:
    stores = {RegionKind.LOCAL: moving, RegionKind.TIERED: moving}
    partitions = cast(Partitions, SimpleNamespace(stores=stores, authorities={}))
    searches = _Searches(partitions, Reader.CONSUMER, timeout_s)
    searches.add(("t", 0), moving, 7)
    return (await searches.ended())["t", 0]


@pytest.mark.parametrize("moves", [0, 1, 2])
def test_a_segment_that_moves_to_the_remote_tier_is_searched_in_one_of_them(moves: int) -> None:
    moving = Moving(moves=moves)
    with sim_node() as bench:
        assert bench.run(lambda: searched(moving, 10)) == (7, 5, 0)
    assert len(moving.searched) == 2 * (moves + 1)


def test_a_search_that_segments_outrun_is_an_error_at_its_deadline() -> None:
    with sim_node() as bench:
        ended = bench.run(lambda: searched(Moving(moves=1), 0.015))
    assert isinstance(ended, KafkaError)
    assert ended.code is ErrorCode.kafka_storage_error
