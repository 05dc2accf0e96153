"""The pools of bytes that frames reserve: a bound that holds, turns, and no standstill."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.simulation.simulation import Simulation
from reference_impl.kafka.room import CHUNK_BYTES, PIECE_S, Pool, Room


class Frame:
    """What a pool knows of a frame."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.held = 0
        self.due: float | None = None
        self.given_up = 0

    def give_up(self) -> None:
        self.given_up += 1


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    async def within_time() -> None:
        async with asyncio.timeout(30):
            await scenario()

    asyncio.run(within_time())


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@given(
    sizes=st.lists(st.integers(1, 100), min_size=1, max_size=30),
    room=st.integers(0, 150),
    step=st.integers(1, 60),
    seed=st.integers(0, 1 << 16),
)
@settings(max_examples=100, deadline=None)
def test_the_bound_holds_and_every_frame_gets_through(
    sizes: list[int], room: int, step: int, seed: int
) -> None:
    pool, rng = Pool(100 + room, longest=100), random.Random(seed)
    most = 0

    async def read_one(frame: Frame) -> None:
        nonlocal most
        while frame.held < frame.size:
            await pool.take(frame, min(step, frame.size - frame.held))
            most = max(most, pool.used)
            await turns(rng.randrange(3))
        pool.complete(frame)
        await turns(rng.randrange(5))
        pool.give_back(frame)

    async def scenario() -> None:
        await asyncio.gather(*(read_one(Frame(size)) for size in sizes))

    run(scenario)

    assert most <= pool.size
    assert pool.used == 0


def test_room_is_given_in_the_order_in_which_it_was_asked_for() -> None:
    pool = Pool(20, longest=10)
    first, second, *others = (Frame(10) for _ in range(5))
    given_to: list[Frame] = []

    async def ask(frame: Frame) -> None:
        await pool.take(frame, 10)
        given_to.append(frame)
        pool.give_back(frame)

    async def scenario() -> None:
        for frame in (first, second):
            await pool.take(frame, 10)
            pool.complete(frame)
        asking = [asyncio.create_task(ask(frame)) for frame in others]
        await turns()
        assert given_to == []
        pool.give_back(first)
        await asyncio.gather(*asking)
        assert given_to == others

    run(scenario)


def test_a_frame_that_waits_and_is_cancelled_leaves_the_queue() -> None:
    pool = Pool(10, longest=10)
    first, second, third = Frame(10), Frame(10), Frame(10)

    async def scenario() -> None:
        await pool.take(first, 10)
        waiting = asyncio.create_task(pool.take(second, 10))
        last = asyncio.create_task(pool.take(third, 10))
        await turns()
        waiting.cancel()
        pool.give_back(first)
        await last
        assert (second.held, third.held, pool.used) == (0, 10, 10)

    run(scenario)


def test_what_is_too_long_to_be_normal_takes_no_normal_room() -> None:
    room = Room()

    assert room.pool(CHUNK_BYTES) is room.normal
    assert room.pool(CHUNK_BYTES + 1) is room.long
    assert room.normal.size + room.long.size < 256 << 20


@pytest.mark.parametrize(("others_wait", "closed"), [(False, 0), (True, 1)])
def test_a_frame_that_is_late_is_given_up_when_others_wait(others_wait: bool, closed: int) -> None:
    pool = Pool(30, longest=10)
    late, on_time = Frame(10), Frame(10)

    async def scenario() -> None:
        now = asyncio.get_running_loop().time()
        for frame, due_s in ((late, 1.5), (on_time, 100)):
            await pool.take(frame, 10)
            frame.due = now + due_s * PIECE_S
        if others_wait:
            waiting = asyncio.create_task(pool.take(Frame(10), 10))
        await asyncio.sleep(1.4 * PIECE_S)
        assert late.given_up == 0
        await asyncio.sleep(PIECE_S)
        assert (late.given_up, on_time.given_up, pool.closed) == (closed, 0, closed)
        if others_wait:
            waiting.cancel()

    with Simulation(seed=1) as sim:
        sim.run(scenario())
