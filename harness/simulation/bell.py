"""A bell: waiting inside the loop for something that is counted elsewhere."""

from __future__ import annotations

import asyncio


class Bell:
    """Wakes who waits, each time it rings."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def ring(self) -> None:
        """Wake them."""
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for one in waiting:
                if not one.done():
                    one.set_result(None)

    async def heard(self) -> None:
        """Return when it rings next."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        await waiter
