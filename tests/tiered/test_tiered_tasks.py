"""What runs tasks: slots, intervals, back-off, and an end at any time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.tiered.settings import TieredSettings
from reference_impl.tiered.storage import RemoteStorageException
from reference_impl.tiered.tasks import TaskKind, TaskLoop, TaskPool
from tests.tiered.tier_bench import TierBench, tier_bench

pytestmark = pytest.mark.sim
NO_JITTER = TieredSettings(retry_jitter=0.0, local_check_interval_ms=7_000)


class Noted:
    """A task that notes when it runs and does what it is told."""

    def __init__(self, bench: TierBench, do: Callable[[int], Awaitable[None]]) -> None:
        self.at: list[float] = []
        self.work = True
        self._bench = bench
        self._do = do

    def has_work(self) -> bool:
        return self.work

    async def run(self) -> None:
        self.at.append(round(asyncio.get_running_loop().time(), 3))
        await self._do(len(self.at))

    def waits(self) -> list[float]:
        pairs = zip(self.at, self.at[1:], strict=False)
        return [round(after - before, 1) for before, after in pairs]


async def nothing(_: int) -> None:
    """Succeed."""


async def for_ever(_: int) -> None:
    await asyncio.sleep(1e9)


def loop_of(bench: TierBench, task: Noted, kind: TaskKind, pool: TaskPool | None) -> TaskLoop:
    return TaskLoop(bench.tier, kind, task, name="orders-0", pool=pool)


def pool_of(bench: TierBench, slots: int) -> TaskPool:
    return TaskPool(slots, bench.tier.ports.clock.monotonic_ns)


def test_failures_double_the_wait_up_to_the_most_and_a_success_ends_that() -> None:
    async def fails(run: int) -> None:
        if run not in (9, 10):
            raise RemoteStorageException("away")

    with tier_bench(NO_JITTER) as bench:

        async def work() -> list[float]:
            task = Noted(bench, fails)
            loop = loop_of(bench, task, TaskKind.COPY, pool_of(bench, 4))
            loop.start()
            await asyncio.sleep(190)
            await loop.stop()
            return task.waits()

        waits = bench.node.run(work)
    doubled = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]
    assert waits[:11] == [*doubled, 30.0, 30.0, 0.5]
    assert sum("copy failed" in one for one in bench.lines) >= 9


@pytest.mark.parametrize(
    ("kind", "interval"), [(TaskKind.COPY, 30.0), (TaskKind.EXPIRY, 30.0), (TaskKind.LOCAL, 7.0)]
)
def test_a_success_and_a_log_out_of_service_wait_for_the_interval(
    kind: TaskKind, interval: float
) -> None:
    async def out_of_service(run: int) -> None:
        if run == 2:
            raise KafkaError(ErrorCode.kafka_storage_error)

    with tier_bench(NO_JITTER) as bench:

        async def work() -> list[float]:
            task = Noted(bench, out_of_service)
            loop = loop_of(bench, task, kind, None)
            loop.start()
            await asyncio.sleep(100)
            await loop.stop()
            return task.waits()

        assert set(bench.node.run(work)) == {interval}


def test_a_task_can_be_made_to_run_before_its_time_and_waits_for_no_slot_without_work() -> None:
    with tier_bench(NO_JITTER) as bench:

        async def work() -> tuple[int, int]:
            task, pool = Noted(bench, nothing), pool_of(bench, 1)
            loop = loop_of(bench, task, TaskKind.EXPIRY, pool)
            loop.start()
            await asyncio.sleep(1)
            loop.run_soon()
            await asyncio.sleep(1)
            ran, task.work = len(task.at), False
            loop.run_soon()
            await asyncio.sleep(1)
            await loop.stop()
            return ran, len(task.at)

        assert bench.node.run(work) == (2, 2)


def test_a_store_that_hangs_takes_the_slots_and_nothing_else_and_ends_when_told() -> None:
    with tier_bench(NO_JITTER) as bench:

        async def work() -> tuple[list[int], int, float]:
            pool = pool_of(bench, 2)
            hanging = [Noted(bench, for_ever) for _ in range(3)]
            local = Noted(bench, nothing)
            loops = [loop_of(bench, one, TaskKind.COPY, pool) for one in hanging]
            loops.append(loop_of(bench, local, TaskKind.LOCAL, None))
            for loop in loops:
                loop.start()
            await asyncio.sleep(30)
            busy_s, ran = pool.busy_ns / 1e9, sorted(len(one.at) for one in hanging)
            began = asyncio.get_running_loop().time()
            for loop in loops:
                await loop.stop()
            assert asyncio.get_running_loop().time() - began < 1
            return ran, len(local.at), round(busy_s)

        assert bench.node.run(work) == ([0, 1, 1], 5, 60)
