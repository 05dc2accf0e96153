"""A lever: something that is done to a part of a system, counted where it acts.

A lever knows no fault by name and judges nothing. It says how often it acted, by counts that are
taken at the place where it acts: segments held in a proxy, refusals at a gate, threads that the
kernel reports as stopped. `nemesis` gives levers their names and writes down what they did.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol

Counts = Mapping[str, int]
_LOOK_S = 0.02


class Lever(Protocol):
    """Pulled already; in force until it is released."""

    @property
    def counts(self) -> Counts:
        """What it did so far, by the names that `nemesis` documents."""
        ...

    async def acted(self) -> None:
        """Return once a count is above zero."""
        ...

    async def release(self) -> None:
        """End it. What was killed runs again, what was held goes on; a second time does nothing."""
        ...


def has_acted(counts: Counts) -> bool:
    """Whether any count is above zero."""
    return any(count > 0 for count in counts.values())


def added_up(counts: Iterable[Counts]) -> Counts:
    """The counts of several levers as one."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)


class PulledLever:
    """A lever made of two functions: what it counts, and what ends it.

    A count is the highest that was read, from the pulling to the release.
    """

    def __init__(
        self, counted: Callable[[], Counts], release: Callable[[], Awaitable[None]]
    ) -> None:
        self._counted = counted
        self._release = release
        self._highest: dict[str, int] = {}
        self._released = False
        self._read()

    @property
    def counts(self) -> Counts:
        """What it did so far."""
        if not self._released:
            self._read()
        return dict(self._highest)

    async def acted(self) -> None:
        """Return once a count is above zero."""
        while not has_acted(self.counts):
            await asyncio.sleep(_LOOK_S)

    async def release(self) -> None:
        """End it; a second time does nothing."""
        if not self._released:
            self._read()
            self._released = True
            await self._release()

    def _read(self) -> None:
        for name, count in self._counted().items():
            self._highest[name] = max(count, self._highest.get(name, 0))


class Together:
    """Several levers as one: their counts are added up, they are released in reverse order."""

    def __init__(self, levers: Sequence[Lever]) -> None:
        self.levers = tuple(levers)

    @property
    def counts(self) -> Counts:
        """Of all of them."""
        return added_up(lever.counts for lever in self.levers)

    async def acted(self) -> None:
        """Return once a count is above zero."""
        if len(self.levers) == 1:
            await self.levers[0].acted()
        while not has_acted(self.counts):
            await asyncio.sleep(_LOOK_S)

    async def release(self) -> None:
        """End all of them; the first error is raised once every one was tried."""
        errors: list[Exception] = []
        for lever in reversed(self.levers):
            try:
                await lever.release()
            except Exception as error:  # the others are released all the same
                errors.append(error)
        if errors:
            raise errors[0]


class Counted:
    """What was counted when something was done that needs no end."""

    def __init__(self, counts: Counts) -> None:
        self.counts = counts

    async def acted(self) -> None:
        """It has acted already, or never will."""

    async def release(self) -> None:
        """There is nothing to end."""


async def pull_all(pulls: Iterable[Awaitable[Lever]]) -> Sequence[Lever]:
    """Pull levers one after the other, each when it is its turn; if one fails, release the rest."""
    pulled: list[Lever] = []
    try:
        for one in pulls:
            pulled.append(await one)
    except BaseException:
        await Together(pulled).release()
        raise
    return pulled
