"""The gate of a simulated node: where effects are numbered, traced, delayed, failed, and killed at.

Effects on a disk and on the network happen in the node itself. Those on the object store and on the
control plane travel: the request takes its time, is carried out there whatever has become of the
node meanwhile, and the reply takes its time back. So a node that is paused or killed right after
asking has asked, and only never hears the answer.

*Conditions* say what is done to the effects of a port while they last: an outage, slowness, replies
that get lost, requests that are held. *Orders* say what is done to one effect, by its number. Both
count how often they bit. An effect is traced when it is carried out, or fails to be: a reply that
is lost afterwards does not change what happened.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextvars import Context
from dataclasses import dataclass, field, replace
from enum import Enum
from fnmatch import fnmatch
from types import MappingProxyType
from typing import Generic, NoReturn, TypeVar

from harness.simulation.bell import Bell
from harness.simulation.clock import NS
from harness.simulation.disk import SimDisk
from harness.simulation.loop import SimLoop
from harness.simulation.process import Process
from reference_impl.ports.effects import Effect, Trace, Trouble, traced

Result = TypeVar("Result")

MS = NS // 1000

# How long a request or a reply travels, shortest and longest; ports not named here are local.
LATENCY_NS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"control_plane": (MS // 5, MS), "object_store": (4 * MS, 20 * MS)}
)


_Waiter = asyncio.Future[Trouble | None]


class Act(Enum):
    """What an order does to the effect it names."""

    FAIL = "fail"  # it never happens, and the node is told so
    LOSE_REPLY = "lose-reply"  # it happens, and the node is told that nobody answered
    KILL = "kill"  # it never happens: the node dies first
    KILL_AFTER = "kill-after"  # it happens, and the node dies without learning of it


@dataclass(slots=True, kw_only=True, eq=False)
class Condition:
    """What is done to the effects that match it, for as long as it lasts."""

    port: str
    node: str | None = None  # every node
    life: Process | None = None  # every life of it
    since_life: int = 0  # the first life of a node that it hits
    calls: frozenset[str] | None = None  # every call
    like: str | None = None  # every key; else those of objects that are called so
    trouble: Trouble | None = None
    in_turn: tuple[Trouble, ...] = ()  # the troubles of one effect after the other
    slower_ns: int = 0
    holds: bool = False
    holds_replies: bool = False
    gives_up_ns: int | None = None  # after which a caller waits no longer for what is held
    loses_replies: bool = False
    severs: bool = False  # replies that are under way are lost, too
    left: int | None = None  # how many more effects it hits; no limit
    hits: int = 0
    held: list[tuple[Process, _Waiter]] = field(default_factory=list)
    bell: Bell = field(default_factory=Bell)  # rings at each hit

    def applies_to(self, process: Process, effect: Effect[Result]) -> bool:
        """Whether it has something to say about this effect of a process."""
        return (
            self.port == effect.port
            and self.left != 0
            and self.node in (None, process.name)
            and self.life in (None, process)
            and self.since_life <= process.life
            and (self.calls is None or effect.call in self.calls)
            and (self.like is None or fnmatch(str(effect.args.get("key", "")), self.like))
        )

    def hit(self) -> None:
        """It did something to an effect."""
        if self.in_turn:
            self.trouble = self.in_turn[self.hits % len(self.in_turn)]
        self.hits += 1
        if self.left is not None:
            self.left -= 1
        self.bell.ring()

    async def hold(self, process: Process, waiter: _Waiter) -> Trouble | None:
        """Keep a request or a reply until it is let go; the trouble that it then runs into."""
        self.hit()
        self.held.append((process, waiter))
        if not process.alive:
            self.drop(process)
        if self.gives_up_ns is not None:
            waiter.get_loop().call_later(self.gives_up_ns / NS, self._give_up, waiter)
        return await waiter

    def _give_up(self, waiter: _Waiter) -> None:
        if not waiter.done():
            self.held = [one for one in self.held if one[1] is not waiter]
            waiter.set_result(Trouble.REFUSED)

    def release(self, count: int | None = None, trouble: Trouble | None = None) -> int:
        """Let what is held go, oldest first, into trouble if any; how many there were."""
        released, self.held = self.held[:count], [] if count is None else self.held[count:]
        for _, waiter in released:
            waiter.set_result(trouble)
        return len(released)

    def drop(self, process: Process | None = None) -> None:
        """What is held never gets anywhere: its network is gone. Of one process, or of all."""
        gone = [one for one in self.held if process in (None, one[0])]
        self.held = [one for one in self.held if process not in (None, one[0])]
        for _, waiter in gone:
            waiter.cancel()


class Effects:
    """What is done to effects in one simulation; shared by the gates of its nodes."""

    def __init__(
        self, loop: SimLoop, rng: random.Random, *, kill: Callable[[Process], None]
    ) -> None:
        self.loop = loop
        self.kill = kill
        self.counts: dict[str, int] = {}
        self.conditions: list[Condition] = []
        self.orders: dict[tuple[str, int], Act] = {}
        self.obeyed: list[tuple[str, int, Act]] = []
        self.under_way: dict[tuple[str, str], int] = {}  # calls by node and port
        self._random = rng
        self._elsewhere = Context()

    def order(self, node: str, number: int, act: Act) -> None:
        """Do this to one effect, when it comes."""
        self.orders[node, number] = act

    def next_number(self, node: str) -> int:
        """Effects of a node are numbered from 1, over all its lives."""
        number = self.counts[node] = self.counts.get(node, 0) + 1
        return number

    def take_order(self, node: str, number: int) -> Act | None:
        """What is to be done to this effect, if anything."""
        act = self.orders.pop((node, number), None)
        if act is not None:
            self.obeyed.append((node, number, act))
        return act

    def travel_ns(self, port: str) -> int:
        """How long one way to that port takes."""
        shortest, longest = LATENCY_NS[port]
        return shortest + int(self._random.random() * (longest - shortest))

    def moving(self, node: str, port: str) -> int:
        """How many calls of a node are under way, and not held."""
        held = (one for each in self.conditions if each.port == port for one in each.held)
        here = sum(1 for process, _ in held if process.name == node)
        return self.under_way.get((node, port), 0) - here

    def process_ended(self, process: Process) -> None:
        """What is held of it in the network goes down with it, as with a connection."""
        for condition in self.conditions:
            condition.drop(process)

    async def elsewhere(self, process: Process, work: Callable[[], Awaitable[Result]]) -> Result:
        """Work that goes on whatever becomes of the process that waits for it."""
        reply: asyncio.Future[_Outcome[Result]] = self.loop.create_future()

        async def deliver() -> None:
            outcome = await _outcome(work)
            if process.alive and not reply.done():
                reply.set_result(outcome)

        self.loop.create_task(deliver(), context=self._elsewhere.copy())
        return (await reply).unwrap()

    async def apply(self, process: Process, effect: Effect[Result]) -> tuple[Trouble | None, bool]:
        """What is done to an effect: a trouble it runs into, and whether its reply gets lost.

        First it is held or slowed down; then it meets the first thing that is wrong by that time.
        What is not carried out has no reply that could be lost.
        """
        for condition in self._each(process, effect):
            if condition.holds:
                trouble = await condition.hold(process, self.loop.create_future())
                if trouble is not None:
                    return trouble, False
            elif condition.slower_ns:
                condition.hit()
                await self.pass_time(condition.slower_ns)
        met = self._applying(process, effect)
        refusing = [one for one in met if one.trouble is Trouble.REFUSED]
        troubling = refusing or [one for one in met if one.trouble is not None]
        if troubling:
            troubling[0].hit()
            return troubling[0].trouble, False
        losing = [one for one in met if one.loses_replies][:1]
        for condition in losing:
            condition.hit()
        return None, bool(losing)

    async def apply_to_reply(self, process: Process, effect: Effect[Result]) -> bool:
        """Where replies are held, this one waits; whether it is lost there."""
        for condition in self._each(process, effect):
            waits = condition.holds_replies
            if waits and await condition.hold(process, self.loop.create_future()) is not None:
                return True
        return False

    def severed(self, process: Process, effect: Effect[Result]) -> bool:
        """Whether a reply that arrives now comes from a service that is gone; counted."""
        cutting = [one for one in self._applying(process, effect) if one.severs]
        for condition in cutting:
            condition.hit()
        return bool(cutting)

    def _each(self, process: Process, effect: Effect[Result]) -> Iterator[Condition]:
        """Each that applies to it, those included that begin, and not those that end, by then."""
        met: list[Condition] = []
        while left := [one for one in self._applying(process, effect) if one not in met]:
            met.append(left[0])
            yield left[0]

    def _applying(self, process: Process, effect: Effect[Result]) -> list[Condition]:
        return [one for one in self.conditions if one.applies_to(process, effect)]

    async def pass_time(self, duration_ns: int) -> None:
        """Wait in true time."""
        done = self.loop.create_future()
        self.loop.schedule(duration_ns, _wake, done)
        await done


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


@dataclass(frozen=True, slots=True)
class _Outcome(Generic[Result]):
    """A result or an exception, as a value: nobody has to pick it up."""

    give: Callable[[], Result]
    error: Exception | None = None
    done: bool = True  # not kept from happening

    def unwrap(self) -> Result:
        if self.error is not None:
            raise self.error
        return self.give()


async def _outcome(work: Callable[[], Awaitable[Result]]) -> _Outcome[Result]:
    try:
        result = await work()
    except Exception as error:
        return _Outcome(_no_result, error)
    return _Outcome(lambda: result)


def _no_result() -> NoReturn:
    raise AssertionError("an outcome with an error has no result")


class SimGate:
    """The gate of one life of one node."""

    def __init__(self, effects: Effects, process: Process, trace: Trace, disk: SimDisk) -> None:
        self._effects = effects
        self._process = process
        self._trace = trace
        self._disk = disk

    async def run(self, effect: Effect[Result]) -> Result:
        """Number it, carry out what was ordered, then let it happen here or elsewhere."""
        if not self._process.alive:
            await self._never()
        number = self._effects.next_number(self._process.name)
        act = self._effects.take_order(self._process.name, number)
        if act is Act.KILL:
            await self._die()
        if act is None and effect.port not in LATENCY_NS and not self._effects.conditions:
            return await traced(effect, self._trace, number, effect.do)
        if effect.port in LATENCY_NS:
            outcome = await self._effects.elsewhere(
                self._process, lambda: self._there_and_back(effect, number, act)
            )
        else:
            outcome = await self._carried_out(effect, number, act)
        if act is Act.KILL_AFTER:
            await self._die()
        return outcome.unwrap()

    async def _there_and_back(
        self, effect: Effect[Result], number: int, act: Act | None
    ) -> _Outcome[Result]:
        effects, place = self._effects, (self._process.name, effect.port)
        effects.under_way[place] = effects.under_way.get(place, 0) + 1
        try:
            await effects.pass_time(effects.travel_ns(effect.port))
            outcome = await self._carried_out(effect, number, act)
            lost = await effects.apply_to_reply(self._process, effect)
            await effects.pass_time(effects.travel_ns(effect.port))
            if lost or (outcome.done and effects.severed(self._process, effect)):
                outcome = _Outcome(lambda: effect.failed(Trouble.LOST))
        finally:
            effects.under_way[place] -= 1
        return outcome

    async def _carried_out(
        self, effect: Effect[Result], number: int, act: Act | None
    ) -> _Outcome[Result]:
        trouble, lost = await self._effects.apply(self._process, effect)
        if act is Act.FAIL:
            trouble = Trouble.REFUSED
        outcome = await _outcome(
            lambda: traced(effect, self._trace, number, lambda: self._done(effect, trouble))
        )
        if lost or act is Act.LOSE_REPLY:
            return _Outcome(lambda: effect.failed(Trouble.LOST))
        return replace(outcome, done=trouble is None)

    async def _done(self, effect: Effect[Result], trouble: Trouble | None) -> Result:
        if trouble is None:
            return await effect.do()
        if (effect.port, effect.call) == ("disk", "sync"):
            # One that fails must also lose what it should have saved, which only the disk can do.
            self._disk.break_sync(str(effect.args["path"]), times=1)
            return await effect.do()
        return effect.failed(trouble)

    async def _die(self) -> NoReturn:
        self._effects.kill(self._process)
        await self._never()

    async def _never(self) -> NoReturn:
        await self._effects.loop.create_future()
        raise AssertionError("a dead process went on")
