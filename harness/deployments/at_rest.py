"""A cluster at rest: the one definition of it, waiting for it, and what may be trusted after it.

A cluster is at rest when all brokers answer and name the same leader, epoch and in-sync replicas,
with every one of them that is a replica in sync.

Assumptions of rules are suspended by faults and by elections, from before them until the cluster
was seen at rest afterwards: who was deposed has to find out first. The watcher looks for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Protocol

from harness.clients.admin import Leadership, leadership
from harness.clients.answers import UnreadableAnswer
from harness.clients.operations import TopicPartition
from harness.clients.raw import RawClient
from harness.deployments.deployment import Deployment

PAUSE_S = 0.1  # between two looks, or two attempts
WATCH_S = 0.2  # between two looks of the watcher
LOOK_S = 2.0  # in which a broker has to answer
ONE_LEADER = "one-leader"


def is_at_rest(seen: Mapping[int, Leadership | None]) -> bool:
    """Whether brokers agree and all of them are in sync, by what each of them said."""
    told = [one for one in seen.values() if one is not None]
    if not told or len(told) < len(seen) or told[0].leader < 0:
        return False
    said = {(one.leader, one.epoch, frozenset(one.isr)) for one in told}
    return len(said) == 1 and all(set(seen) & set(one.replicas) <= set(one.isr) for one in told)


async def who_leads(on: Deployment, broker: int, tp: TopicPartition) -> Leadership | None:
    """Who leads in the eyes of a broker, by the lab's own network; None if it does not say."""
    client = RawClient(on.network, on.address(broker))
    try:
        return await leadership(client, tp, timeout_s=LOOK_S * on.pace)
    except (OSError, TimeoutError, UnreadableAnswer):
        return None


@dataclass(slots=True, kw_only=True)
class Rest:
    """A partition that is waited for. Whatever is tried is tried once more when the bound ends."""

    brokers: Sequence[int]
    ask: Callable[[int, int], Awaitable[Leadership | None]]  # a broker, in a look of that number
    bound_s: float
    pause_s: float = PAUSE_S
    looks: int = 0

    async def look(self) -> bool:
        """Ask all brokers at once; whether the cluster is at rest."""
        self.looks += 1
        told = await asyncio.gather(*(self.ask(one, self.looks) for one in self.brokers))
        return is_at_rest(dict(zip(self.brokers, told, strict=True)))

    async def wait(self) -> bool:
        """Look until the cluster is at rest or the bound is over; whether it is."""
        return await self.until(self.look)

    async def until(self, reached: Callable[[], Awaitable[bool]]) -> bool:
        """Try until it is so; the last attempt begins when the bound is over since the first."""
        loop = asyncio.get_running_loop()
        if await reached():
            return True
        deadline = loop.time() + self.bound_s
        while True:
            await asyncio.sleep(self.pause_s)
            last = loop.time() >= deadline
            if await reached():
                return True
            if last:
                return False

    async def until_any(self, reached: Callable[[int], Awaitable[bool]]) -> bool:
        """The same, asking one broker after the other who leads."""
        asked = cycle(self.brokers)

        async def tried() -> bool:
            if await reached(next(asked)):
                return True
            await self.look()  # where no leader is known nothing else was recorded
            return False

        return await self.until(tried)


class Suspends(Protocol):
    """What suspends assumptions of rules: a nemesis, or `Elections`."""

    @property
    def waits_for_rest(self) -> bool:
        """Whether something is suspended whose cause is over."""
        ...

    def resume_assumptions(self, looked_ns: int | None = None) -> None:
        """The cluster is at rest, by a look begun at that time; trust what was over before it."""
        ...


@dataclass(slots=True)
class Elections:
    """After an election was asked for, a deposed leader may not know it yet."""

    on: Deployment
    _suspended: list[tuple[int, Callable[[], None]]] = field(default_factory=list)

    def begin(self, about: str) -> None:
        """From now on, until the cluster is at rest."""
        resume = self.on.recorder.suspend_assumption(ONE_LEADER, about)
        self._suspended.append((self.on.now_ns(), resume))

    @property
    def waits_for_rest(self) -> bool:
        """Whether there was one since the cluster was at rest."""
        return bool(self._suspended)

    def resume_assumptions(self, looked_ns: int | None = None) -> None:
        """What was asked for before that look is over."""
        since = [one for one in self._suspended if looked_ns is not None and one[0] >= looked_ns]
        over = [one for one in self._suspended if one not in since]
        self._suspended = since
        for _, resume in over:
            resume()


@dataclass(slots=True)
class Watcher:
    """Looks whether a cluster is at rest while something is suspended; nothing is recorded."""

    on: Deployment
    tp: TopicPartition
    suspending: Sequence[Suspends]
    also: list[TopicPartition] = field(default_factory=list)  # that have to be at rest as well
    _watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look from now on, beside whatever else goes on."""
        if self._watching is None:
            self._watching = asyncio.ensure_future(self._watch())

    def stop(self) -> None:
        """Look no more."""
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None

    async def look(self) -> None:
        """Once: resume what may be trusted again."""
        looked_ns = self.on.now_ns()
        brokers = self.on.brokers
        for tp in (self.tp, *self.also):
            told = await asyncio.gather(*(who_leads(self.on, one, tp) for one in brokers))
            if not is_at_rest(dict(zip(brokers, told, strict=True))):
                return
        for one in self.suspending:
            one.resume_assumptions(looked_ns)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S * self.on.pace)
            if any(one.waits_for_rest for one in self.suspending):
                await self.look()
