"""What a partition does while a batch for it is unpacked by a worker."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar
from uuid import UUID

import pytest

from reference_impl.kafka import compression
from reference_impl.kafka.batches import Compression
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import SHORT_UNPACKED, build_batch
from reference_impl.live.clock import SystemClock
from reference_impl.live.disk import FileDisk
from reference_impl.log.config import LogConfig
from reference_impl.log.log import Log
from reference_impl.metadata.image import PartitionState
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.replication.partition import BrokerContext, Partition

Result = TypeVar("Result")

ME, OTHER = 1, 2
NOW_MS = 1_700_000_000_000
PLAIN = build_batch([(NOW_MS, None, b"plain")])
SHORT = build_batch([(NOW_MS, None, b"short")], compression=Compression.zstd)
NOISE = random.Random(1).randbytes(2 * SHORT_UNPACKED)
LONG_BOTH_WAYS = build_batch([(NOW_MS, None, NOISE)], compression=Compression.lz4)
LONG = build_batch([(NOW_MS, None, bytes(2 * SHORT_UNPACKED))], compression=Compression.zstd)


class HeldWorkers:
    """Workers that begin when they are told to, and count what they did."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.asked = 0

    async def run(self, work: Callable[[], Result]) -> Result:
        self.asked += 1
        await self.go.wait()
        return work()


class NoProposals:
    def propose(self, partition: Partition) -> None:
        """Nobody falls behind here."""


def led_by(leader: int, epoch: int) -> PartitionState:
    return PartitionState(
        replicas=(ME,), isr=(ME,), leader=leader, leader_epoch=epoch, partition_epoch=epoch
    )


def run(path: Path, scenario: Callable[[LogicalPartition, HeldWorkers], Awaitable[None]]) -> None:
    async def whole() -> None:
        workers = HeldWorkers()
        clock = SystemClock()
        log = await Log.open(
            FileDisk(path), "t-0", config=LogConfig(), clock=clock, clean=False, workers=workers
        )
        around = BrokerContext(
            broker_id=ME,
            clock=clock,
            brokers=MappingProxyType({}),
            proposals=NoProposals(),
            max_lag_ms=30_000,
        )
        partition = Partition(
            topic="t", topic_id=UUID(int=1), index=0, log=log, surroundings=around
        )
        await partition.take(led_by(ME, 1))
        logical = LogicalPartition(topic="t", topic_id=UUID(int=1), index=0, broker_id=ME)
        logical.become(led_by(ME, 1), partition)
        async with asyncio.timeout(30):
            await scenario(logical, workers)
        await log.close(clean=True)

    asyncio.run(whole())


async def offset_of(partition: LogicalPartition, batch: bytes) -> int:
    """Where a batch is appended."""
    ended = (await partition.append(batch, acks=1)).decided()
    assert ended is not None
    return ended.base_offset


async def taken(partition: LogicalPartition, state: PartitionState) -> None:
    assert partition.replica is not None
    await partition.replica.take(state)


def log_of(partition: LogicalPartition) -> Log:
    assert partition.replica is not None
    return partition.replica.log


async def begun(partition: LogicalPartition, workers: HeldWorkers) -> asyncio.Task[object]:
    """An append whose batch a worker has."""
    task: asyncio.Task[object] = asyncio.create_task(partition.append(LONG, acks=1))
    while not workers.asked:
        await asyncio.sleep(0)
    return task


def test_a_batch_without_compression_and_a_short_one_need_no_worker(tmp_path: Path) -> None:
    async def scenario(partition: LogicalPartition, workers: HeldWorkers) -> None:
        assert await offset_of(partition, PLAIN) == 0
        assert await offset_of(partition, SHORT) == 1
        assert workers.asked == 0

    run(tmp_path, scenario)


def test_other_appends_to_the_partition_go_on(tmp_path: Path) -> None:
    async def scenario(partition: LogicalPartition, workers: HeldWorkers) -> None:
        long = await begun(partition, workers)
        assert await offset_of(partition, PLAIN) == 0
        workers.go.set()
        await long
        assert log_of(partition).log_end_offset == 2

    run(tmp_path, scenario)


def test_a_leader_that_is_deposed_while_it_unpacks_appends_nothing(tmp_path: Path) -> None:
    async def scenario(partition: LogicalPartition, workers: HeldWorkers) -> None:
        long = await begun(partition, workers)
        await taken(partition, led_by(OTHER, 2))
        workers.go.set()
        with pytest.raises(KafkaError) as refused:
            await long
        assert refused.value.code is ErrorCode.not_leader_or_follower
        assert log_of(partition).log_end_offset == 0

    run(tmp_path, scenario)


def test_what_is_meant_for_one_epoch_is_not_appended_in_the_next_of_the_same_leader(
    tmp_path: Path,
) -> None:
    """Another broker may have led in between, and decided otherwise."""

    async def scenario(partition: LogicalPartition, workers: HeldWorkers) -> None:
        long = asyncio.create_task(partition.append(LONG, acks=1, leader_epoch=1))
        while not workers.asked:
            await asyncio.sleep(0)
        await taken(partition, led_by(ME, 3))
        workers.go.set()
        for late in (long, partition.append(PLAIN, acks=1, leader_epoch=1)):
            with pytest.raises(KafkaError) as refused:
                await late
            assert refused.value.code is ErrorCode.not_leader_or_follower
        assert log_of(partition).log_end_offset == 0
        await partition.append(PLAIN, acks=1, leader_epoch=3)
        assert log_of(partition).log_end_offset == 1

    run(tmp_path, scenario)


def test_a_search_by_time_unpacks_by_a_worker_too(tmp_path: Path) -> None:
    async def scenario(partition: LogicalPartition, workers: HeldWorkers) -> None:
        long = await begun(partition, workers)
        workers.go.set()
        await long
        found = await log_of(partition).offset_for_timestamp(NOW_MS, upto=1)
        latest = await log_of(partition).offset_of_max_timestamp(upto=1)
        assert found == latest is not None
        assert workers.asked == 3

    run(tmp_path, scenario)


@pytest.mark.parametrize("batch", [SHORT, LONG_BOTH_WAYS])
def test_a_batch_is_unpacked_once(
    tmp_path: Path, batch: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0
    unpack = compression._unpack_one

    def counted(data: bytes, codec: Compression, place: memoryview) -> int:
        nonlocal calls
        calls += 1
        return unpack(data, codec, place)

    monkeypatch.setattr(compression, "_unpack_one", counted)

    async def scenario(partition: LogicalPartition, workers: HeldWorkers) -> None:
        workers.go.set()
        await partition.append(batch, acks=1)

    run(tmp_path, scenario)
    assert calls == 1
