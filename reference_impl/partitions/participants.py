"""Participants hear what happens to partitions: tiering, diskless storage, migration.

Each partition has its own line of events for each participant, in order; a participant that takes
its time over one partition holds up no other. Of roles that follow each other before a participant
has come to the first, only the last is told: it is about the present leader epoch or about none.
What a participant fails to take notice of is told again after a while, before what follows it,
unless a later event took its place: a failure delays the line of that partition and no other.

A participant that finds it cannot lead in an epoch (a gap in the log) raises `CannotLead`; the
broker then serves the partition as a follower would, and asks the controller for another leader.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from reference_impl.decisions import decision
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.views import Role
from reference_impl.ports import Clock
from reference_impl.ports.log_lines import Lines, NodeLog

FIRST_BACKOFF_S = 0.1
LONGEST_BACKOFF_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The broker knows the partition from now on; extensions are added now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChanged:
    """What the broker is to the partition in a leader epoch."""

    role: Role
    leader_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """The topic's configuration is another."""

    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundaryMoved:
    """The boundary between the local log and the WAL is known, or another."""

    offset: int
    leader_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The broker has no replica any more, or ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """The topic is gone."""


Event = Started | RoleChanged | Configured | BoundaryMoved | Stopped | Deleted


class CannotLead(Exception):
    """A participant refuses to lead a partition in the present epoch."""


class Participant(Protocol):
    """Hears events; each may come more than once."""

    async def hear(self, partition: LogicalPartition, event: Event) -> None:
        """Take notice, one event of a partition after the other."""
        ...


@decision("event-superseded")
def event_superseded(waiting: Event, newer: Event) -> bool:
    """Only the latest role and the latest configuration count.

    No role counts once the replica is gone, and nothing after a deletion.
    """
    if isinstance(newer, Deleted):
        return not isinstance(waiting, Started)
    if isinstance(newer, Stopped):
        return isinstance(waiting, RoleChanged)
    return isinstance(newer, RoleChanged | Configured) and type(waiting) is type(newer)


class Participants:
    """Delivers events. ``refuse`` is called with a partition, an epoch and why."""

    def __init__(
        self,
        participants: Sequence[Participant],
        refuse: Callable[[LogicalPartition, int, str], Awaitable[None]],
        clock: Clock,
        log: NodeLog,
    ) -> None:
        self._participants = tuple(participants)
        self._refuse = refuse
        self._clock = clock
        self._log = log
        self._lines: dict[tuple[int, LogicalPartition], deque[Event]] = {}
        self._tasks: dict[tuple[int, LogicalPartition], asyncio.Task[None]] = {}

    def __bool__(self) -> bool:
        return bool(self._participants)

    def tell(self, partition: LogicalPartition, event: Event) -> None:
        """Every participant hears it, as soon as it has come to it."""
        for number in range(len(self._participants)):
            key = (number, partition)
            line = self._lines.setdefault(key, deque())
            kept = [one for one in line if not event_superseded(one, event)]
            line.clear()
            line.extend([*kept, event])
            if key not in self._tasks:
                self._tasks[key] = asyncio.get_running_loop().create_task(self._deliver(key))

    async def _deliver(self, key: tuple[int, LogicalPartition]) -> None:
        line, (number, partition) = self._lines[key], key
        attempt = 0
        try:
            while line:
                event = line.popleft()
                try:
                    await self._hear(number, partition, event)
                    attempt = 0
                except Exception as error:  # a participant may raise anything; its line goes on
                    if not any(event_superseded(event, newer) for newer in line):
                        line.appendleft(event)
                    await self._back_off(partition, event, attempt, error)
                    attempt += 1
        finally:
            self._tasks.pop(key, None)
            if not line:
                self._lines.pop(key, None)

    async def _hear(self, number: int, partition: LogicalPartition, event: Event) -> None:
        try:
            await self._participants[number].hear(partition, event)
        except CannotLead as why:
            await self._refused(partition, event, str(why))

    async def _back_off(
        self, partition: LogicalPartition, event: Event, attempt: int, error: Exception
    ) -> None:
        self._log(
            Lines.EVENT_NOT_HEARD,
            partition=partition,
            event=type(event).__name__,
            attempt=attempt,
            why=f"{type(error).__name__}: {error}",
        )
        doubled_s = FIRST_BACKOFF_S * 2 ** min(attempt, 10)
        await self._clock.sleep(min(LONGEST_BACKOFF_S, doubled_s))

    async def _refused(self, partition: LogicalPartition, event: Event, why: str) -> None:
        if isinstance(event, RoleChanged) and event.role is Role.LEADER:
            partition.refused_epoch = event.leader_epoch
            partition.wake()
            await self._refuse(partition, event.leader_epoch, why)

    async def settled(self) -> None:
        """Return when everything that was told so far has been heard."""
        while self._tasks:
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def stop(self) -> None:
        """Nobody hears anything any more."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
