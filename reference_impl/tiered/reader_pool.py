"""The pool of remote reads: so many at once, so many that wait, and no more.

A reader is a slot, not a thread. Whoever gets none waits in a queue, first come, first served;
whoever finds the queue full is refused at once (G-18). A read that is to be repeated gives its slot
back until then.

    PoolFull    no slot is free, and no place in the queue
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from reference_impl.decisions import decision


class PoolFull(Exception):
    """There is no room for another read."""


@decision("admit-remote-read", rules=("TS-062",))
def admit_remote_read(idle: bool, waiting: int, max_pending: int) -> bool:
    """A read begins at once if a reader is idle, and waits if the queue has room."""
    return idle or waiting < max_pending


class ReaderPool:
    """``threads`` and ``max_pending`` are asked at every read: they may be configured anew."""

    def __init__(
        self,
        threads: Callable[[], int],
        max_pending: Callable[[], int],
        now_ns: Callable[[], int],
    ) -> None:
        self._threads = threads
        self._max_pending = max_pending
        self._now_ns = now_ns
        self._queue: deque[asyncio.Future[None]] = deque()
        self._busy = 0
        self._busy_ns = 0
        self._changed_ns = now_ns()

    @property
    def task_queue_size(self) -> int:
        """How many reads wait for a reader (RemoteLogReaderTaskQueueSize)."""
        return len(self._queue)

    @property
    def busy(self) -> int:
        """How many readers are at work."""
        return self._busy

    @property
    def busy_ns(self) -> int:
        """How long readers have been at work so far, all together."""
        return self._busy_ns + self._busy * (self._now_ns() - self._changed_ns)

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[None]:
        """Hold a reader for as long as the block lasts."""
        self._next()  # there may be more readers than before
        idle = self._busy < self._threads()
        if not admit_remote_read(idle, self.task_queue_size, self._max_pending()):
            raise PoolFull(f"{self.task_queue_size} remote reads wait already")
        if idle:
            self._count(1)
        else:
            await self._turn()
        try:
            yield
        finally:
            self._count(-1)
            self._next()

    async def _turn(self) -> None:
        """Wait for a reader; it is counted as busy by whoever hands it over."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(waiter)
        try:
            # Shielded: only who hands a reader over decides about the waiter.
            await asyncio.shield(waiter)
        except asyncio.CancelledError:
            if waiter in self._queue:
                self._queue.remove(waiter)
            else:  # a reader was handed over, and is not needed
                self._count(-1)
                self._next()
            raise

    def _next(self) -> None:
        """Hand idle readers to those who wait longest."""
        while self._queue and self._busy < self._threads():
            self._count(1)
            self._queue.popleft().set_result(None)

    def _count(self, change: int) -> None:
        now_ns = self._now_ns()
        self._busy_ns += self._busy * (now_ns - self._changed_ns)
        self._changed_ns = now_ns
        self._busy += change
