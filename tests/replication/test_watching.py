"""Waiting: who is woken, when, and who is told that it was in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from reference_impl.replication.watching import Watched, until

Result = TypeVar("Result")
LONG_S = 600.0


def run(scenario: Callable[[], Awaitable[Result]]) -> Result:
    async def bounded() -> Result:
        async with asyncio.timeout(60):  # a test that hangs is to fail
            return await scenario()

    return asyncio.run(bounded())


async def others_go_on() -> None:
    """Until everybody who was ready had a turn."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_what_is_reached_already_is_not_waited_for() -> None:
    assert run(lambda: until(lambda: True, [Watched()], timeout_s=0.0))


def test_who_waits_goes_on_once_it_is_reached_and_something_happened() -> None:
    async def scenario() -> list[bool]:
        thing, end = Watched(), [0]
        waiting = asyncio.ensure_future(until(lambda: end[0] >= 2, [thing], timeout_s=LONG_S))
        done = []
        for end[0] in (1, 2):
            await others_go_on()
            thing.wake()
            await others_go_on()
            done.append(waiting.done())
        return [*done, await waiting]

    assert run(scenario) == [False, True, True]


def test_what_is_over_again_before_its_turn_is_waited_for_anew() -> None:
    async def scenario() -> bool:
        thing, reached = Watched(), [False]
        waiting = asyncio.ensure_future(until(lambda: reached[0], [thing], timeout_s=LONG_S))
        await others_go_on()
        reached[0] = True
        thing.wake()
        reached[0] = False
        await others_go_on()
        assert not waiting.done()
        reached[0] = True
        thing.wake()
        return await waiting

    assert run(scenario)


def test_any_of_several_things_may_be_the_one_that_something_happens_to() -> None:
    async def scenario() -> bool:
        things, reached = (Watched(), Watched()), [False]
        waiting = asyncio.ensure_future(until(lambda: reached[0], things, timeout_s=LONG_S))
        await others_go_on()
        reached[0] = True
        things[1].wake()
        return await waiting

    assert run(scenario)


def test_who_waits_in_vain_is_told_so_and_looked_at_no_longer() -> None:
    async def scenario() -> tuple[bool, int]:
        thing, looks = Watched(), [0]

        def look() -> bool:
            looks[0] += 1
            return False

        reached = await until(look, [thing], timeout_s=0.0)
        before = looks[0]
        thing.wake()
        return reached, looks[0] - before

    assert run(scenario) == (False, 0)
