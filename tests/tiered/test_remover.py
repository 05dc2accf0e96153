"""The remover: what a deleted topic left is removed, once, by whom it concerns (C-07, C-30)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

import pytest

from reference_impl.metadata.image import Image
from reference_impl.metadata.records import (
    PartitionCreated,
    RemoteTopicStopped,
    TopicCreated,
    TopicDeleted,
)
from reference_impl.tiered.memory_metadata import Outage
from reference_impl.tiered.metadata import RemoteLogMetadataManager
from reference_impl.tiered.remover import (
    RemotePartitionRemover,
    Removal,
    TopicPresence,
    next_removal,
    removal_is_due,
)
from reference_impl.tiered.segments import (
    PartitionDeleteState,
    RemoteLogSegmentMetadata,
    RemotePartitionDeleteMetadata,
    TopicIdPartition,
)
from reference_impl.tiered.settings import TieredSettings
from reference_impl.tiered.storage import RemoteStorageManager
from reference_impl.tiered.tier import Tier
from tests.tiered.remote_segments import ORDERS, batch
from tests.tiered.tier_bench import BROKER, TierBench, tier_bench

MARKED, STARTED, FINISHED = PartitionDeleteState
INTERVAL_S = 100.0
SETTINGS = TieredSettings(remover_interval_ms=int(INTERVAL_S * 1000))


@pytest.mark.parametrize(
    ("presence", "state", "segments", "then"),
    [
        ("unknown", None, 1, "nothing"),  # it may not be created yet, as far as was read
        ("live", None, 1, "nothing"),
        ("removing", None, 1, "nothing"),
        ("stopped", None, 0, "mark"),
        ("stopped", None, 1, "mark"),
        ("stopped", MARKED, 0, "start"),
        ("stopped", MARKED, 1, "start"),
        ("unknown", MARKED, 1, "start"),  # marked by a broker that has read further
        ("stopped", STARTED, 2, "delete a segment"),
        ("stopped", STARTED, 0, "finish"),
        ("stopped", FINISHED, 0, "nothing"),
        ("stopped", FINISHED, 1, "nothing"),
    ],
)
def test_what_comes_next(
    presence: str, state: PartitionDeleteState | None, segments: int, then: str
) -> None:
    assert next_removal(TopicPresence(presence), state, segments) is Removal(then)


@pytest.mark.parametrize(
    ("ran_in", "epoch", "overdue", "due"),
    [(None, 3, False, True), (2, 3, False, True), (3, 3, False, False), (3, 3, True, True)],
)
def test_it_runs_on_taking_the_lead_and_every_interval(
    ran_in: int | None, epoch: int, overdue: bool, due: bool
) -> None:
    assert removal_is_due(ran_in, epoch, overdue) is due


# Flows.


def created(image: Image, partition: TopicIdPartition = ORDERS) -> None:
    image.apply(TopicCreated(name=partition.topic, topic_id=partition.topic_id))
    image.apply(
        PartitionCreated(
            topic_id=partition.topic_id,
            partition=0,
            replicas=(BROKER,),
            isr=(BROKER,),
            leader=BROKER,
            leader_epoch=0,
            partition_epoch=0,
        )
    )


def deleted(image: Image, *, stopped: bool = True) -> None:
    image.apply(TopicDeleted(name=ORDERS.topic, topic_id=ORDERS.topic_id, remote=True))
    if stopped:
        image.apply(RemoteTopicStopped(topic_id=ORDERS.topic_id))


def played(scenario: Callable[[TierBench], Awaitable[None]], *, leads: bool = True) -> None:
    with tier_bench(SETTINGS) as bench:
        bench.registry.lead(BROKER if leads else BROKER + 1)
        created(bench.image)

        async def whole() -> None:
            for number, first in enumerate((0, 3, 6)):
                batches = [batch(offset, 0) for offset in range(first, first + 3)]
                await bench.copied(number, batches, ((0, 0),), finished=number < 2)
            await scenario(bench)

        bench.node.run(whole)


def states(bench: TierBench) -> list[PartitionDeleteState]:
    events = bench.registry.events
    return [one.state for one in events if isinstance(one, RemotePartitionDeleteMetadata)]


async def begun(bench: TierBench) -> RemotePartitionRemover:
    remover = RemotePartitionRemover(bench.tier, bench.image)
    remover.start()
    await asyncio.sleep(1)
    return remover


def test_a_topic_is_marked_when_its_brokers_have_stopped_and_removed_with_the_interval() -> None:
    async def scenario(bench: TierBench) -> None:
        remover = await begun(bench)
        deleted(bench.image, stopped=False)
        await asyncio.sleep(1)
        assert states(bench) == []
        bench.image.apply(RemoteTopicStopped(topic_id=ORDERS.topic_id))
        await asyncio.sleep(1)
        assert (states(bench), len(bench.objects())) == ([MARKED], 15)
        await asyncio.sleep(INTERVAL_S)
        assert states(bench) == [MARKED, STARTED, FINISHED]
        assert bench.objects() == []
        assert bench.metadata.list_remote_log_segments(ORDERS) == ()
        await remover.stop()

    played(scenario)


def test_what_an_earlier_leader_marked_is_removed_on_taking_the_lead() -> None:
    async def scenario(bench: TierBench) -> None:
        deleted(bench.image)
        remover = await begun(bench)
        await asyncio.sleep(INTERVAL_S * 3)
        assert states(bench) == []
        bench.registry.lead(BROKER)
        created(bench.image, TopicIdPartition(UUID(int=99), "other", 0))  # so that it looks
        await asyncio.sleep(1)
        assert states(bench) == [MARKED]
        await remover.stop()
        bench.registry.lead(BROKER)
        remover = await begun(bench)
        assert states(bench) == [MARKED, STARTED, FINISHED]
        assert bench.objects() == []
        await remover.stop()

    played(scenario, leads=False)


def test_a_topic_of_the_same_name_is_not_touched() -> None:
    async def scenario(bench: TierBench) -> None:
        deleted(bench.image)
        again = TopicIdPartition(UUID(int=5), ORDERS.topic, 0)
        created(bench.image, again)
        bench.node.sim.store.contents()
        await bench.tier.ports.object_store.put(f"tiered/{again.topic_id}/0/x/segment.log", b"1")
        remover = await begun(bench)
        await asyncio.sleep(INTERVAL_S + 1)
        assert bench.objects() == [f"tiered/{again.topic_id}/0/x/segment.log"]
        assert states(bench) == [MARKED, STARTED, FINISHED]
        await remover.stop()

    played(scenario)


def test_a_topic_that_was_created_where_this_broker_has_not_read_is_not_touched() -> None:
    async def scenario(bench: TierBench) -> None:
        bench.image.topics.clear()
        bench.image.topic_ids.clear()
        remover = await begun(bench)
        await asyncio.sleep(INTERVAL_S * 3)
        assert (states(bench), len(bench.objects())) == ([], 15)
        await remover.stop()

    played(scenario)


def test_a_store_that_fails_is_tried_again_every_interval() -> None:
    async def scenario(bench: TierBench) -> None:
        deleted(bench.image)
        outage = bench.node.sim.levers.refuse("object_store")
        remover = await begun(bench)
        await asyncio.sleep(INTERVAL_S * 2)
        assert states(bench) == [MARKED, STARTED]
        outage.release()
        await asyncio.sleep(INTERVAL_S)
        assert states(bench) == [MARKED, STARTED, FINISHED]
        assert bench.objects() == []
        await remover.stop()

    played(scenario)


def test_whatever_a_plug_in_raises_is_tried_again_every_interval() -> None:
    async def scenario(bench: TierBench) -> None:
        deleted(bench.image)
        broken = cast(RemoteStorageManager, Breaking(bench.tier.storage, times=1))
        remover = RemotePartitionRemover(replace(bench.tier, storage=broken), bench.image)
        remover.start()
        await asyncio.sleep(INTERVAL_S * 3)
        assert states(bench) == [MARKED, STARTED, FINISHED]
        assert bench.objects() == []
        await remover.stop()

    played(scenario)


class Breaking:
    """A plug-in that fails in a way of its own for so many deletions."""

    def __init__(self, inner: RemoteStorageManager, times: int) -> None:
        self._inner = inner
        self._times = times

    async def delete_log_segment_data(self, metadata: RemoteLogSegmentMetadata) -> None:
        self._times -= 1
        if self._times >= 0:
            raise TimeoutError("a client of the plug-in gave up")
        await self._inner.delete_log_segment_data(metadata)


def test_a_mark_that_cannot_be_published_is_tried_again_soon() -> None:
    async def scenario(bench: TierBench) -> None:
        deleted(bench.image)
        bench.registry.outage = Outage.NOT_PUBLISHED
        remover = await begun(bench)
        await asyncio.sleep(5)
        assert states(bench) == []
        bench.registry.outage = Outage.NONE
        await asyncio.sleep(20)
        assert states(bench) == [MARKED]
        await remover.stop()

    played(scenario)


# Anything may be the last thing that a broker does.


class Crash(BaseException):
    """The broker ends here."""


class Counted:
    """Ends the broker before or after one of its calls."""

    def __init__(self, inner: object, countdown: list[int], after: bool) -> None:
        self._inner, self._countdown, self._after = inner, countdown, after

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in (
            "put_remote_partition_delete_metadata",
            "update_remote_log_segment_metadata",
            "delete_log_segment_data",
        ):
            return found

        async def call(*args: Any) -> Any:
            self._countdown[0] -= 1
            last = self._countdown[0] == 0
            if last and not self._after:
                raise Crash
            result = await found(*args)
            if last:
                raise Crash
            return result

        return call


def crashing(tier: Tier, at: int, *, after: bool) -> Tier:
    countdown = [at]
    return replace(
        tier,
        storage=cast(RemoteStorageManager, Counted(tier.storage, countdown, after)),
        metadata=cast(RemoteLogMetadataManager, Counted(tier.metadata, countdown, after)),
    )


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(1, 13))
def test_a_broker_that_ends_anywhere_leaves_what_the_next_one_can_finish(
    at: int, after: bool
) -> None:
    async def scenario(bench: TierBench) -> None:
        deleted(bench.image)
        first = RemotePartitionRemover(crashing(bench.tier, at, after=after), bench.image)
        crashed = False
        try:
            await first._round(overdue=True)
        except Crash:
            crashed = True
        assert crashed
        bench.registry.lead(BROKER)
        second = RemotePartitionRemover(bench.tier, bench.image)
        await second._round(overdue=True)
        await second._round(overdue=True)
        assert states(bench) == [MARKED, STARTED, FINISHED]
        assert bench.objects() == []

    played(scenario)
