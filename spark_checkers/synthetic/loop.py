"""Time that passes only when nothing else is left to do.

A task is a generator. It yields how long it wants to sleep, or what it waits for and how long at
most; of a wait it is told whether what it waited for came. Same tasks, same order, in any process.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

US = 1_000
MS = 1_000_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sleep:
    """Go on after that many nanoseconds."""

    ns: int


@dataclass(frozen=True, slots=True)
class Until:
    """Go on when the condition holds, or after that many nanoseconds."""

    condition: Callable[[], bool]
    ns: int


Task: TypeAlias = Generator[Sleep | Until, bool, T]


def at_once(function: Callable[[], T]) -> Task[T]:
    """A task that waits for nothing."""
    yield Sleep(0)
    return function()


@dataclass(slots=True, eq=False)
class _Job:
    """A task, what it waits for, and how often it was resumed: an old alarm wakes nobody."""

    task: Task[None]
    condition: Callable[[], bool] | None = None
    started: bool = False
    turn: int = 0


class Loop:
    """Runs tasks in order of time; equal times in the order in which they were asked for."""

    def __init__(self) -> None:
        self.now = 0
        self._asked = 0
        self._alarms: list[tuple[int, int, int, _Job]] = []
        self._waiting: list[_Job] = []

    def moment(self) -> int:
        """A moment of its own: no two lines of a history have the same time."""
        self.now += 1
        return self.now

    def spawn(self, task: Task[None], after_ns: int = 0) -> None:
        """Run a task from then on."""
        self._alarm(_Job(task), after_ns)

    def run(self, limit_ns: int | None = None) -> None:
        """Run what there is, until nothing is left or the time has come."""
        while self._alarms and (limit_ns is None or self._alarms[0][0] <= limit_ns):
            when, _, turn, job = heapq.heappop(self._alarms)
            if turn != job.turn:
                continue
            self.now = max(self.now, when)
            self._resume(job, came=job.condition is None or job.condition())
            self._wake()

    def _alarm(self, job: _Job, after_ns: int) -> None:
        self._asked += 1
        heapq.heappush(self._alarms, (self.now + after_ns, self._asked, job.turn, job))

    def _wake(self) -> None:
        """Resume whoever waited for what has come; doing so may bring what others wait for."""
        while ready := next(
            (job for job in self._waiting if job.condition and job.condition()), None
        ):
            self._resume(ready, came=True)

    def _resume(self, job: _Job, *, came: bool) -> None:
        if job.condition is not None:
            self._waiting.remove(job)
        job.condition = None
        job.turn += 1
        try:
            asked = job.task.send(came) if job.started else next(job.task)
        except StopIteration:
            return
        job.started = True
        if isinstance(asked, Until):
            job.condition = asked.condition
            self._waiting.append(job)
        self._alarm(job, asked.ns)
