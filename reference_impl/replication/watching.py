"""Waiting for something to happen to a partition: an append, a higher watermark, another leader.

Whoever waits says what for. Whoever changes something looks, on the spot, which of those who wait
have reached it, and wakes only them: on a busy partition nearly everybody who waits has to go on
waiting, and a look costs far less than a turn of the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable


class Watched:
    """Something that people wait for. They are looked at in the order in which they came."""

    def __init__(self) -> None:
        self._watchers: dict[_Watcher, None] = {}

    def wake(self) -> None:
        """Something happened: everybody who has reached what they wait for may go on."""
        for watcher in self._watchers:
            watcher.look()

    def add(self, watcher: _Watcher) -> None:
        """Have it look from now on."""
        self._watchers[watcher] = None

    def remove(self, watcher: _Watcher) -> None:
        """No longer."""
        self._watchers.pop(watcher, None)


class _Watcher:
    """One who waits."""

    __slots__ = ("_loop", "_reached", "_turn", "late")

    def __init__(self, reached: Callable[[], bool]) -> None:
        self.late = False
        self._reached = reached
        self._loop = asyncio.get_running_loop()
        self._turn = self._loop.create_future()

    def look(self) -> None:
        if not self._turn.done() and self._reached():
            self._turn.set_result(None)

    def give_up(self) -> None:
        self.late = True
        if not self._turn.done():
            self._turn.set_result(None)

    async def turn(self) -> None:
        """Until it was reached, which may be over by now, or time is up."""
        await self._turn
        self._turn = self._loop.create_future()


async def until(
    reached: Callable[[], bool], things: Iterable[Watched], *, timeout_s: float
) -> bool:
    """Wait until it is reached, looking again whenever something happens; False if time ran out.

    ``reached`` changes nothing, and is asked wherever something happens to one of the things.
    """
    if reached():
        return True
    watcher, watched = _Watcher(reached), tuple(things)
    for thing in watched:
        thing.add(watcher)
    timer = asyncio.get_running_loop().call_later(timeout_s, watcher.give_up)
    try:
        while not reached():
            if watcher.late:
                return False
            await watcher.turn()
        return True
    finally:
        timer.cancel()
        for thing in watched:
            thing.remove(watcher)
