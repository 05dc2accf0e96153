"""Auxiliary state: built from the remote tier, however long that takes, or not at all (C-18)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from reference_impl.kafka.errors import KafkaError
from reference_impl.log.decisions import EpochEntry
from reference_impl.replication.copying import RestartPoint
from reference_impl.replication.decisions import EpochEnd
from reference_impl.replication.leaders_log import LeadersLog, LeadersStart
from reference_impl.replication.partition import Partition
from reference_impl.tiered.aux_state import AuxiliaryState
from reference_impl.tiered.memory_metadata import MemoryMetadataManager
from reference_impl.tiered.reader_pool import ReaderPool
from tests.tiered.remote_segments import ORDERS, batch
from tests.tiered.tier_bench import TierBench, tier_bench

FOLLOWED = cast(
    Partition,
    SimpleNamespace(topic_id=ORDERS.topic_id, topic=ORDERS.topic, index=ORDERS.partition),
)
LINEAGE = ((0, 0), (1, 3), (2, 5), (3, 7))


class Leader:
    """A leader's log, as a follower hears of it."""

    def __init__(self, elo: int, lineage: tuple[tuple[int, int], ...] = LINEAGE) -> None:
        self.elo = elo
        self.lineage = lineage
        self.asked: list[float] = []

    def epoch_of(self, offset: int) -> int:
        return max(epoch for epoch, start in self.lineage if start <= offset)

    async def start(self, log_start_offset: int) -> LeadersStart:
        self.asked.append(asyncio.get_running_loop().time())
        return LeadersStart(
            log_start_offset=log_start_offset,
            local_log_start_offset=self.elo,
            local_log_start_epoch=self.epoch_of(self.elo),
        )

    async def epoch_end(self, epoch: int) -> EpochEnd:
        found = max((one for one, _ in self.lineage if one <= epoch), default=epoch)
        end = min(start for one, start in self.lineage if one > epoch)
        return EpochEnd(epoch=found, end_offset=end)


def aux_of(bench: TierBench) -> AuxiliaryState:
    clock = bench.tier.ports.clock
    return AuxiliaryState(bench.tier, ReaderPool(lambda: 5, lambda: 100, clock.monotonic_ns))


async def build(aux: AuxiliaryState, leader: Leader, *, log_start: int = 0) -> RestartPoint:
    first = await leader.start(log_start)
    leader.asked.clear()
    return await aux.build(FOLLOWED, leader=first, ask=cast(LeadersLog, leader))


def written(first: int, last: int, *, producer: int = -1) -> list[bytes]:
    """One-record batches of the lineage above, of one producer if it is named."""
    more: dict[str, Any] = {}
    found = []
    for offset in range(first, last + 1):
        epoch = max(epoch for epoch, start in LINEAGE if start <= offset)
        if producer >= 0:
            more = {"producer_id": producer, "producer_epoch": 0, "base_sequence": offset}
        found.append(batch(offset, epoch, **more))
    return found


def played(
    scenario: Callable[[TierBench, AuxiliaryState], Awaitable[None]], *, delay_s: float = 0.0
) -> list[str]:
    with tier_bench(delay_s=delay_s) as bench:
        bench.node.run(lambda: scenario(bench, aux_of(bench)))
        return bench.lines


def entries(*epochs: tuple[int, int]) -> tuple[EpochEntry, ...]:
    return tuple(EpochEntry(*one) for one in epochs)


# What is built.


@pytest.mark.parametrize(
    ("elo", "epochs"),
    [
        (3, ((0, 0), (1, 3))),
        (6, ((0, 0), (1, 3), (2, 5))),
        (9, LINEAGE),
    ],
)
def test_a_segment_that_ends_before_elo_gives_epochs_and_producers(
    elo: int, epochs: tuple[tuple[int, int], ...]
) -> None:
    async def scenario(bench: TierBench, aux: AuxiliaryState) -> None:
        for number, (first, last) in enumerate(((0, 2), (3, 5), (6, 8))):
            before = written(0, first - 1, producer=4)
            await bench.copied(number, written(first, last, producer=4), LINEAGE, before=before)
        point = await build(aux, Leader(elo))
        assert (point.offset, point.log_start_offset) == (elo, 0)
        assert point.epochs == entries(*epochs)
        assert [(one.producer_id, one.last_sequence) for one in point.producers] == [(4, elo - 1)]

    played(scenario)


def test_a_segment_that_reaches_beyond_elo_is_read_only_up_to_it() -> None:
    async def scenario(bench: TierBench, aux: AuxiliaryState) -> None:
        await bench.copied(1, written(0, 2, producer=4), LINEAGE)
        await bench.copied(2, written(3, 8, producer=4), LINEAGE, before=written(0, 2, producer=4))
        (known,) = (await build(aux, Leader(6))).producers
        assert [one.last_sequence for one in known.batches] == [2, 3, 4, 5]

    played(scenario)


def test_without_an_earlier_snapshot_all_batches_from_the_log_start_on_are_read() -> None:
    async def scenario(bench: TierBench, aux: AuxiliaryState) -> None:
        await bench.copied(1, written(0, 8, producer=4), LINEAGE)
        point = await build(aux, Leader(6), log_start=4)
        (known,) = point.producers
        assert [one.last_sequence for one in known.batches] == [4, 5]
        assert point.epochs == entries((1, 4), (2, 5))

    played(scenario)


def test_batches_of_another_lineage_are_not_replayed() -> None:
    async def scenario(bench: TierBench, aux: AuxiliaryState) -> None:
        mine = {"producer_id": 4, "producer_epoch": 0}
        theirs = [batch(offset, 0, base_sequence=90 + offset, **mine) for offset in range(4)]
        await bench.copied(1, theirs, ((0, 0),))  # (0..3, epoch 0): the lineage parts at 3
        await bench.copied(2, written(0, 8, producer=4), LINEAGE)
        (known,) = (await build(aux, Leader(6))).producers
        assert known.last_sequence == 5

    played(scenario)


# How long it takes.


def test_a_segment_that_is_not_known_yet_is_waited_for() -> None:
    async def scenario(bench: TierBench, aux: AuxiliaryState) -> None:
        publisher = MemoryMetadataManager(bench.registry, broker_id=9)
        publisher.on_partition_leadership_changes([ORDERS], [])
        here, bench.metadata = bench.metadata, publisher
        await bench.copied(1, written(0, 2), LINEAGE)
        assert here.list_remote_log_segments(ORDERS) == ()
        leader, began = Leader(3), asyncio.get_running_loop().time()
        assert (await build(aux, leader)).offset == 3
        assert 5 <= asyncio.get_running_loop().time() - began <= 11
        assert leader.asked == []

    played(scenario, delay_s=5)


def test_an_elo_whose_segment_is_unknown_once_all_is_read_is_stale() -> None:
    async def scenario(bench: TierBench, aux: AuxiliaryState) -> None:
        await bench.copied(1, written(0, 2), LINEAGE)
        with pytest.raises(KafkaError, match="not in the remote tier"):
            await build(aux, Leader(5))

    played(scenario)


def test_a_store_that_fails_is_asked_again_with_back_off_and_elo_anew_each_time() -> None:
    leader = Leader(3)

    async def scenario(bench: TierBench, aux: AuxiliaryState) -> None:
        await bench.copied(1, written(0, 2, producer=4), LINEAGE)
        await bench.copied(2, written(3, 5, producer=4), LINEAGE, before=written(0, 2, producer=4))
        outage = bench.node.sim.levers.refuse("object_store")
        building = asyncio.create_task(build(aux, leader))
        await asyncio.sleep(200)
        assert not building.done()
        leader.elo = 6  # the leader's disk begins later by now
        outage.release()
        point = await building
        assert (point.offset, point.epochs) == (6, entries((0, 0), (1, 3), (2, 5)))

    lines = played(scenario)
    waits = [after - before for before, after in zip(leader.asked, leader.asked[1:], strict=False)]
    assert 0.8 <= waits[0] <= 1.3
    assert max(waits) <= 30.5
    assert "seconds=60" in next(one for one in lines if "not built yet" in one)
    assert sum("not built yet" in one for one in lines) == 3


@pytest.mark.parametrize("part", ["leader-epoch.checkpoint", "producer.snapshot"])
def test_a_missing_object_is_waited_for(part: str) -> None:
    async def scenario(bench: TierBench, aux: AuxiliaryState) -> None:
        await bench.copied(1, written(0, 2), LINEAGE)
        (key,) = [one for one in bench.objects() if one.endswith(part)]
        gone = bench.node.sim.levers.damage("vanished", key)
        building = asyncio.create_task(build(aux, Leader(3)))
        await asyncio.sleep(100)
        assert not building.done()
        gone.release()
        assert (await building).offset == 3

    played(scenario)


def test_the_longest_wait_is_a_metric() -> None:
    async def scenario(bench: TierBench, aux: AuxiliaryState) -> None:
        await bench.copied(1, written(0, 2), LINEAGE)
        bench.node.sim.levers.refuse("object_store")
        building = asyncio.create_task(build(aux, Leader(3)))
        await asyncio.sleep(90)
        assert 89_000 <= aux._longest_ms() <= 91_000
        building.cancel()
        await asyncio.sleep(1)
        assert aux._longest_ms() == 0

    played(scenario)
