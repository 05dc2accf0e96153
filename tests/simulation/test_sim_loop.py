"""The loop of simulations: seeded order, virtual time, and saying so when nothing gets on."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.simulation.clock import NS, NodeClock
from harness.simulation.errors import Deadlock, Runaway, StillWaiting, Unsupported
from harness.simulation.loop import SimLoop
from harness.simulation.process import Process, current_process


@pytest.fixture
def loop() -> Iterator[SimLoop]:
    made = SimLoop(random.Random(1))
    yield made
    made.close()


def process_on(loop: SimLoop, name: str = "n1") -> Process:
    process = Process(name, NodeClock(lambda: loop.now_ns))
    loop.processes.append(process)
    return process


def order_of(seed: int) -> list[int]:
    loop = SimLoop(random.Random(seed))
    ran: list[int] = []

    async def main() -> None:
        for number in range(10):
            loop.call_soon(ran.append, number)
        await asyncio.sleep(1)

    loop.run_until_complete(main())
    loop.close()
    return ran


def test_the_seed_decides_the_order_of_what_is_ready() -> None:
    assert order_of(1) == order_of(1)
    assert order_of(1) != order_of(2)
    assert sorted(order_of(2)) == [*range(10)]


def test_time_passes_only_when_nothing_is_ready(loop: SimLoop) -> None:
    async def main() -> float:
        await asyncio.sleep(3600)
        return loop.time()

    assert loop.run_until_complete(main()) == 3600
    assert loop.now_ns == 3600 * NS


def test_timers_fire_in_the_order_of_their_times(loop: SimLoop) -> None:
    ran: list[float] = []
    for delay in (0.3, 0.1, 0.2):
        loop.call_later(delay, ran.append, delay)

    loop.run_for(NS)

    assert ran == [0.1, 0.2, 0.3]


def test_running_for_a_while_stops_there_and_not_at_the_next_timer(loop: SimLoop) -> None:
    ran: list[str] = []
    loop.call_later(2, ran.append, "late")

    loop.run_for(NS)

    assert (loop.now_ns, ran) == (NS, [])


def test_a_timer_that_was_cancelled_does_not_fire(loop: SimLoop) -> None:
    ran: list[int] = []
    handle = loop.call_later(0.1, ran.append, 1)
    handle.cancel()

    loop.run_for(NS)

    assert ran == []
    assert handle.cancelled()


async def waits_with_a_timeout() -> str:
    try:
        async with asyncio.timeout(1):
            await asyncio.sleep(10)
    except TimeoutError:
        return "timed out"
    return "slept"


async def uses_a_queue() -> str:
    queue: asyncio.Queue[str] = asyncio.Queue(maxsize=1)

    async def put() -> None:
        for word in ("a", "b", "c"):
            await queue.put(word)

    putting = asyncio.create_task(put())
    got = "".join([await queue.get() for _ in range(3)])
    await putting
    return got


async def uses_a_lock_in_a_group() -> str:
    lock, inside, worst = asyncio.Lock(), 0, 0

    async def enter() -> None:
        nonlocal inside, worst
        async with lock:
            inside += 1
            worst = max(worst, inside)
            await asyncio.sleep(0.01)
            inside -= 1

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(enter())
    return f"{worst} at a time"


async def drops_a_generator() -> str:
    closed: list[str] = []

    async def numbers() -> Any:
        try:
            yield 1
            yield 2
        finally:
            closed.append("closed")

    async for _ in numbers():
        break
    await asyncio.sleep(0)
    await asyncio.sleep(0.001)
    return closed[0]


@pytest.mark.parametrize(
    ("program", "result"),
    [
        (waits_with_a_timeout, "timed out"),
        (uses_a_queue, "abc"),
        (uses_a_lock_in_a_group, "1 at a time"),
        (drops_a_generator, "closed"),
    ],
)
def test_plain_asyncio_code_runs_unchanged(
    loop: SimLoop, program: Callable[[], Any], result: str
) -> None:
    assert loop.run_until_complete(program()) == result


def test_a_result_and_an_exception_come_out_as_they_went_in(loop: SimLoop) -> None:
    async def fails() -> None:
        raise LookupError("nobody")

    with pytest.raises(LookupError, match="nobody"):
        loop.run_until_complete(fails())


async def waits_for_ever() -> None:
    await asyncio.get_running_loop().create_future()


def test_a_deadlock_says_who_waits_where(loop: SimLoop) -> None:
    process = process_on(loop, "n7")
    loop.create_task(waits_for_ever(), name="replicator", context=process.context.copy())

    with pytest.raises(Deadlock) as stuck:
        loop.run_until_complete(waits_for_ever())

    said = str(stuck.value)
    assert "n7: replicator at test_sim_loop.py" in said
    assert "the lab: " in said
    assert "waits_for_ever" in said


def test_a_deadlock_of_a_paused_process_says_that_it_is_paused(loop: SimLoop) -> None:
    process = process_on(loop, "n1")
    process.paused = True
    waited = loop.create_task(asyncio.sleep(0), context=process.context.copy())

    async def main() -> None:
        await waited

    with pytest.raises(Deadlock, match="n1 is paused with 1 callbacks waiting"):
        loop.run_until_complete(main())


def test_who_waits_too_long_is_told_apart_from_a_deadlock(loop: SimLoop) -> None:
    async def heartbeats() -> None:
        while True:
            await asyncio.sleep(0.1)

    beating = loop.create_task(heartbeats())
    with pytest.raises(StillWaiting, match="5 s have passed"):
        loop.run_within(waits_for_ever(), limit_ns=5 * NS)
    assert not beating.done()


def test_a_runaway_is_stopped_and_named(loop: SimLoop) -> None:
    async def spins() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(Runaway, match=r"time does not pass; most of them: .*spins"):
        loop.run_until_complete(spins())


def test_an_exception_in_a_callback_is_kept_and_the_others_run(loop: SimLoop) -> None:
    ran: list[int] = []
    loop.call_soon(lambda: 1 / 0)
    loop.call_soon(ran.append, 1)

    loop.run_for(1)

    assert ran == [1]
    assert [type(error["exception"]) for error in loop.errors] == [ZeroDivisionError]


@pytest.mark.parametrize(
    "asks",
    [
        lambda: asyncio.to_thread(print),
        lambda: asyncio.open_connection("127.0.0.1", 80),
        lambda: asyncio.get_running_loop().getaddrinfo("localhost", 80),
        lambda: asyncio.open_connection("n1", 80, ssl=True),
    ],
    ids=["threads", "no network", "names", "tls"],
)
def test_what_would_reach_the_real_world_is_refused(loop: SimLoop, asks: Callable[[], Any]) -> None:
    async def main() -> None:
        await asks()

    with pytest.raises(Unsupported):
        loop.run_until_complete(main())


# Processes.


def test_code_of_a_process_and_all_it_starts_knows_whose_it_is(loop: SimLoop) -> None:
    process = process_on(loop)
    seen: list[Process | None] = []

    async def child() -> None:
        await asyncio.sleep(0.1)
        seen.append(current_process())

    async def main() -> None:
        asyncio.get_running_loop().call_later(0.2, lambda: seen.append(current_process()))
        await asyncio.create_task(child())

    loop.create_task(main(), context=process.context.copy())
    loop.run_for(NS)

    assert seen == [process, process]
    assert current_process() is None


def test_a_paused_process_does_nothing_and_catches_up_when_it_goes_on(loop: SimLoop) -> None:
    process = process_on(loop)
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            await asyncio.sleep(1)
            ticks.append(loop.time())

    loop.create_task(tick(), context=process.context.copy())
    loop.run_for(NS * 5 // 2)
    process.paused = True
    loop.run_for(10 * NS)
    assert ticks == [1, 2]

    process.paused = False
    loop.unpark(process)
    loop.run_for(NS)

    assert ticks == [1, 2, 12.5, 13.5]


def test_a_dead_process_never_runs_again_and_its_clean_up_runs_at_once(loop: SimLoop) -> None:
    process = process_on(loop)
    seen: list[str] = []

    async def inner() -> None:
        try:
            await asyncio.sleep(1)
            seen.append("went on")
        finally:
            seen.append("inner")
            await asyncio.sleep(0)
            seen.append("never: a dead process waits for nothing")

    async def main() -> None:
        try:
            await inner()
        finally:
            seen.append("outer")

    loop.create_task(main(), context=process.context.copy())
    loop.run_for(NS // 2)
    assert process.end() == 1
    assert seen == ["inner", "outer"]

    loop.run_for(10 * NS)

    assert seen == ["inner", "outer"]
    assert loop.errors == []


def test_a_process_forgets_tasks_that_are_done(loop: SimLoop) -> None:
    process = process_on(loop)

    async def main() -> None:
        for _ in range(1000):
            await asyncio.create_task(asyncio.sleep(0))

    loop.create_task(main(), context=process.context.copy())
    loop.run_for(NS)

    assert [*process.tasks] == []
    assert len(process.tasks._tasks) < 200


# Clocks.


def test_a_clock_that_runs_fast_ends_waits_early(loop: SimLoop) -> None:
    process = process_on(loop)
    process.clock.drift(2.0)
    ended: list[tuple[float, float]] = []

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(waits_for_ever(), 10)
        ended.append((loop.now_ns / NS, loop.time()))

    loop.create_task(main(), context=process.context.copy())
    loop.run_for(20 * NS)

    assert ended == [(5.0, 10.0)]


def test_a_shift_moves_the_time_of_day_alone(loop: SimLoop) -> None:
    clock = NodeClock(lambda: loop.now_ns)
    loop.run_for(NS)
    before, monotonic = clock.now_ms(), clock.monotonic_ns()

    clock.shift(-3_600_000)

    assert clock.now_ms() == before - 3_600_000
    assert clock.monotonic_ns() == monotonic


def test_a_clock_that_drifts_and_stops_drifting_never_goes_back(loop: SimLoop) -> None:
    clock = NodeClock(lambda: loop.now_ns)
    shown = []
    for rate in (0.5, 3.0, 1.0):
        clock.drift(rate)
        loop.run_for(NS)
        shown.append(clock.monotonic_ns())

    assert shown == [NS // 2, NS * 7 // 2, NS * 9 // 2]


def test_a_clock_cannot_stand_still(loop: SimLoop) -> None:
    with pytest.raises(ValueError, match=r"0\.01 to 100"):
        NodeClock(lambda: loop.now_ns).drift(0)
