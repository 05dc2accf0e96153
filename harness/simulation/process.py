"""A process: one life of a node, and everything that ends with it.

Code of a node runs in a context that names its process. Tasks and callbacks inherit that context,
so the loop knows of each whose it is: it parks what belongs to a process that is paused, and drops
what belongs to one that is dead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any

from harness.simulation.bell import Bell
from harness.simulation.clock import NodeClock

if TYPE_CHECKING:
    from harness.simulation.callback import Callback

_PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)

# Each close() runs a coroutine to its next await; one that waits more often in its clean-up than
# this is not cleaning up.
_CLOSES = 1000


class Tasks:
    """Tasks for as long as they run, oldest first."""

    __slots__ = ("_prune_at", "_tasks")

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[Any]] = []
        self._prune_at = 64

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Keep a task."""
        self._tasks.append(task)
        if len(self._tasks) >= self._prune_at:
            self._tasks = [*self]
            self._prune_at = max(64, 2 * len(self._tasks))

    def __iter__(self) -> Iterator[asyncio.Task[Any]]:
        return (task for task in self._tasks if not task.done())

    def end(self) -> int:
        """Close every coroutine where it stands; how many were closed."""
        running = [*self]
        self._tasks = [task for task in running if not _close(task)]
        return len(running) - len(self._tasks)


class Process:
    """One life of a node, by its number. ``context`` is where its code runs; ``at_end`` is called
    when it is over."""

    __slots__ = (
        "alive",
        "at_end",
        "bell",
        "clock",
        "context",
        "life",
        "name",
        "parked",
        "paused",
        "stalled",
        "tasks",
    )

    def __init__(self, name: str, clock: NodeClock, life: int = 1) -> None:
        self.name = name
        self.clock = clock
        self.life = life
        self.alive = True
        self.paused = False
        self.parked: list[Callback] = []
        self.stalled = 0  # callbacks that were parked, ever
        self.bell = Bell()  # rings when one is
        self.at_end: list[Callable[[], None]] = []
        self.tasks = Tasks()
        self.context = Context()
        self.context.run(_PROCESS.set, self)

    def park(self, callback: Callback) -> None:
        """Keep what it would have run, while it is paused."""
        self.parked.append(callback)
        self.stalled += 1
        self.bell.ring()

    @property
    def ended(self) -> bool:
        """Whether none of its code can run any more."""
        return not self.alive and not [*self.tasks]

    def end(self) -> int:
        """Dead from here on; how many tasks that cost.

        The clean-up code of a dead process still runs, here and now and not whenever the garbage
        collector comes by. It can do nothing to the outside: its ports know that it is dead.
        """
        self.alive = False
        self.parked.clear()
        ended = self.tasks.end()
        for tell in self.at_end:
            tell()
        return ended


def current_process() -> Process | None:
    """The process whose code is running; None for the lab's own."""
    return _PROCESS.get()


def process_in(context: Context) -> Process | None:
    """The process to which a context belongs."""
    return context.get(_PROCESS)


def _close(task: asyncio.Task[Any]) -> bool:
    """Whether nothing of it is left."""
    coroutine = task.get_coro()
    for _ in range(_CLOSES):
        try:
            coroutine.close()
            return True
        except RuntimeError:
            continue  # it waits for something in its clean-up: on to the next await
        except Exception:
            return True  # it failed while cleaning up, and its caller is gone
    return False
