"""Waiting for something to happen to a partition: an append, a higher watermark, another leader."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager


class Watched:
    """Something that people wait for. They are woken in the order in which they came."""

    def __init__(self) -> None:
        self._watchers: dict[int, asyncio.Event] = {}
        self._next = 0

    def wake(self) -> None:
        """Something happened: everybody who waits may look again."""
        for event in self._watchers.values():
            event.set()

    def add(self, event: asyncio.Event) -> int:
        """Have it set from now on; the number ends it."""
        self._next += 1
        self._watchers[self._next] = event
        return self._next

    def remove(self, number: int) -> None:
        """No longer."""
        self._watchers.pop(number, None)


@contextmanager
def watching(things: Iterable[Watched]) -> Iterator[asyncio.Event]:
    """An event that is set whenever something happens to one of them."""
    event = asyncio.Event()
    numbers = [(thing, thing.add(event)) for thing in things]
    try:
        yield event
    finally:
        for thing, number in numbers:
            thing.remove(number)


async def until(
    reached: Callable[[], bool], things: Iterable[Watched], *, timeout_s: float
) -> bool:
    """Wait until it is reached, looking again whenever something happens; False if time ran out."""
    if reached():
        return True
    with watching(things) as event:
        try:
            async with asyncio.timeout(timeout_s):
                while not reached():
                    event.clear()
                    await event.wait()
        except TimeoutError:
            return reached()
    return True
