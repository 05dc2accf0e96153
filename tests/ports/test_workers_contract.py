"""What is promised of workers, live and simulated."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from harness.simulation.simulation import Simulation
from harness.simulation.workers import AT_ONCE as SIMULATED_AT_ONCE
from harness.simulation.workers import SimWorkers
from reference_impl.live.workers import AT_ONCE, ThreadWorkers
from reference_impl.ports import Workers

Run = Callable[[Callable[[Workers], Awaitable[Any]]], Any]


def in_threads(scenario: Callable[[Workers], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        return await scenario(ThreadWorkers())

    return asyncio.run(run())


def simulated(scenario: Callable[[Workers], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        return await scenario(SimWorkers())

    with Simulation(seed=3) as sim:
        return sim.run(run())


@pytest.fixture(params=[in_threads, simulated])
def run(request: pytest.FixtureRequest) -> Run:
    chosen: Run = request.param
    return chosen


def test_what_the_work_returns_is_the_result(run: Run) -> None:
    async def scenario(workers: Workers) -> int:
        return await workers.run(lambda: 7)

    assert run(scenario) == 7


def test_what_the_work_raises_is_raised(run: Run) -> None:
    def fail() -> None:
        raise KeyError("no such thing")

    async def scenario(workers: Workers) -> None:
        await workers.run(fail)

    with pytest.raises(KeyError, match="no such thing"):
        run(scenario)


def test_other_tasks_have_turns_until_the_work_is_done(run: Run) -> None:
    async def scenario(workers: Workers) -> list[str]:
        order: list[str] = []

        async def other() -> None:
            order.append("other")
            turn.set()

        turn = threading.Event()
        task = asyncio.create_task(other())
        # In a thread this waits for the other task; simulated, the other has had its turn.
        await workers.run(lambda: order.append("work") if turn.wait(30) else None)
        await task
        return order

    assert run(scenario) == ["other", "work"]


def test_threads_begin_works_in_the_order_in_which_they_came() -> None:
    begun: list[int] = []

    async def scenario() -> None:
        workers = ThreadWorkers(at_once=1)
        await asyncio.gather(*(workers.run(partial(begun.append, number)) for number in range(20)))

    asyncio.run(scenario())

    assert begun == list(range(20))


def test_no_more_threads_work_than_are_allowed() -> None:
    running = most = 0
    counted = threading.Lock()
    both = threading.Barrier(AT_ONCE)

    def work() -> None:
        nonlocal running, most
        with counted:
            running += 1
            most = max(most, running)
        both.wait(30)  # so many do run at once
        with counted:
            running -= 1
        both.wait(30)

    async def scenario(workers: Workers) -> None:
        await asyncio.gather(*(workers.run(work) for _ in range(4 * AT_ONCE)))

    in_threads(scenario)

    assert most == AT_ONCE


def test_no_more_simulated_works_run_than_are_allowed() -> None:
    workers = SimWorkers()

    async def scenario() -> None:
        await asyncio.gather(*(workers.run(lambda: None) for _ in range(10)))

    with Simulation(seed=3) as sim:
        sim.run(scenario())

    assert (workers.most_at_once, workers.done, workers.running) == (SIMULATED_AT_ONCE, 10, 0)
