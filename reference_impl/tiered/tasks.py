"""What runs the tasks of partitions: a pool of slots, and a loop for each partition and kind.

A task runs as soon as it is there, then every interval; after a remote error it runs again after a
back-off of its own (C-28). Copies and expiry of all partitions share the slots of the pool, so a
slow store holds up other tasks of the remote store and nothing else. Local retention takes no slot.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from reference_impl.kafka.errors import KafkaError
from reference_impl.ports.log_lines import Lines
from reference_impl.replication.watching import Watched, until
from reference_impl.tiered.tier import Tier


class TaskKind(StrEnum):
    """What a partition's tasks do."""

    COPY = "copy"
    EXPIRY = "expiry"
    LOCAL = "local retention"
    EARLIER_STATE = "earlier state"


class Task(Protocol):
    """One kind of work for one partition."""

    def has_work(self) -> bool:
        """Whether there is any need to wait for a slot."""
        ...

    async def run(self) -> None:
        """Do what is to be done now; a RemoteStorageException is tried again."""
        ...


class TaskPool:
    """So many tasks at once; the others wait for their turn."""

    def __init__(self, slots: int, now_ns: Callable[[], int]) -> None:
        self.slots = slots
        self._free = asyncio.Semaphore(slots)
        self._now_ns = now_ns
        self._busy = 0
        self._busy_ns = 0
        self._changed_ns = now_ns()

    @property
    def busy_ns(self) -> int:
        """How long slots have been in use so far, all together."""
        return self._busy_ns + self._busy * (self._now_ns() - self._changed_ns)

    async def run(self, task: Task) -> None:
        """Run a task once a slot is free."""
        async with self._free:
            self._count(1)
            try:
                await task.run()
            finally:
                self._count(-1)

    def _count(self, by: int) -> None:
        self._busy_ns = self.busy_ns
        self._changed_ns = self._now_ns()
        self._busy += by


class TaskLoop(Watched):
    """Runs a task again and again, until it is cancelled. Without a pool it waits for no slot."""

    def __init__(
        self, tier: Tier, kind: TaskKind, task: Task, *, name: object, pool: TaskPool | None
    ) -> None:
        super().__init__()
        self._tier = tier
        self._kind = kind
        self._task = task
        self._name = name
        self._pool = pool
        self._attempt = 0
        self._soon = False
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Run from now on."""
        self._running = asyncio.get_running_loop().create_task(self._loop())

    def run_soon(self) -> None:
        """Run again before its time."""
        self._soon = True
        self.wake()

    async def stop(self) -> None:
        """Cancel it, whatever it does."""
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running

    async def _loop(self) -> None:
        while True:
            self._soon = False
            wait_ms = await self._once()
            await until(lambda: self._soon, [self], timeout_s=wait_ms / 1000)

    async def _once(self) -> float:
        """Run it if there is work; how long to wait then."""
        settings = self._tier.settings()
        try:
            if self._task.has_work():
                await (self._task.run() if self._pool is None else self._pool.run(self._task))
            self._attempt = 0
        except KafkaError:
            pass  # the log is out of service, and says so to whoever asks for it
        except Exception as error:  # a plug-in may raise anything; its task goes on
            return self._failed(error)
        local = self._kind is TaskKind.LOCAL
        return settings.local_check_interval_ms if local else settings.task_interval_ms

    def _failed(self, error: Exception) -> float:
        attempt = self._attempt
        self._attempt += 1
        self._tier.ports.log(
            Lines.REMOTE_TASK_FAILED,
            partition=self._name,
            task=self._kind,
            attempt=attempt,
            why=f"{type(error).__name__}: {error}",
        )
        return self._tier.backoff_ms(attempt)
