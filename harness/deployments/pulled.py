"""A lever made of two functions: what it counts, and what ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from harness.levers import Counts, has_acted

_LOOK_S = 0.02


class PulledLever:
    """A lever in force. A count is the highest that was read, from the pulling to the release."""

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
