"""The simulated twin of worker threads: long computations as steps of the simulated loop.

Each takes a fixed simulated time and so few of a process run at once, as in threads. There is no
thread: the work itself is one callback, at the end of its time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

Result = TypeVar("Result")

AT_ONCE: Final = 2
SECONDS: Final = 0.001


class SimWorkers:
    """Workers of one process. ``running`` and ``done`` count what they were given."""

    def __init__(self) -> None:
        self.running = 0
        self.most_at_once = 0
        self.done = 0
        self._free = asyncio.Semaphore(AT_ONCE)

    async def run(self, work: Callable[[], Result]) -> Result:
        """What the work returns or raises, after its time."""
        async with self._free:
            self.running += 1
            self.most_at_once = max(self.most_at_once, self.running)
            try:
                await asyncio.sleep(SECONDS)
                return work()
            finally:
                self.running -= 1
                self.done += 1
