"""What clients of the control plane do, and what the lab does to it: a vocabulary of steps.

    old  hold     initialize b0=100 epoch=5 seeds=A
    new  call     register epoch=6
    old  release
    lab  probe

An operation is invoked before anything is sent and completed when the answer is there. What was
begun goes on while other steps are played; what is open when the run ends is unknown for ever.
Which verb is legal where a client stands is said by `harness.steps.order`. What is done to a
request, a client or the control plane is a fault, begun and ended by name: its window is never
wider than the fault, and it has landed only by a count of its levers.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from harness.deployments.deployment import CONTROL_PLANE, Client, ClientLost, Deployment, urgency
from harness.history.recorder import Operation
from harness.levers import Lever
from harness.steps.order import CLIENT_VERBS, LAB_VERBS, OUTAGES, Order, OutOfOrder
from harness.steps.step import LAB, LOAD, NEMESIS, Step
from harness.steps.text import ScriptError, where
from harness.steps.vocabulary import Vocabulary, verb
from harness.sut.protocol import Answer
from harness.workloads import boundary_text

# Shorter than the shortest way to the control plane: nothing is carried out before the next step,
# but a few steps make a difference.
STEP_S = 0.0001
LOOK_S = 0.001

# Which fault a verb is.
FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "hold": "hold-request",
        "step": "split-request",
        "lose": "lose-reply",
        "drop": "drop-request",
        "kill": "kill",
        "pause": "pause",
        "refuse": "control-plane-refused",
        "break": "control-plane-broken",
        "disturb": "control-plane-disturbed",
    }
)
# What each of them is ended by.
ENDED_BY = MappingProxyType({"hold": "release", "pause": "resume", **OUTAGES})


class Begun(Protocol):
    """A fault that was begun."""

    @property
    def levers(self) -> Lever:
        """What was pulled for it, as one lever."""
        ...


class Faults(Protocol):
    """What begins and ends faults by name: ``nemesis.nemesis.Nemesis`` is one."""

    def missing(self, name: str, target: str, /) -> str | None:
        """Why a fault cannot be done here to such a target, if it cannot."""
        ...

    def begin(self, name: str, target: str = "", /) -> Awaitable[Begun]:
        """Begin a fault, and write that down."""
        ...

    def end(self, active: Any, /) -> Awaitable[None]:
        """Write down that it ends, and end it; one that is over is left alone."""
        ...

    def look(self) -> None:
        """Write down which faults have landed since the last look."""
        ...

    def heal_all(self) -> Awaitable[None]:
        """End every fault."""
        ...


@dataclass(slots=True, kw_only=True, eq=False)
class _Asked:
    """What a client has open."""

    operations: Sequence[Operation]  # one for each partition
    task: asyncio.Task[None]
    urged: asyncio.Event = field(default_factory=asyncio.Event)  # its answer is waited for


class BoundarySteps(Vocabulary):
    """The verbs of the control plane's clients, and of the lab, on one deployment."""

    def __init__(self, deployment: Deployment, faults: Faults) -> None:
        self._on = deployment
        self._faults = faults
        self._recorder = deployment.recorder
        self._follow = self.follow_order()
        self._clients: dict[str, Client] = {}
        self._asked: dict[str, _Asked] = {}
        self._begun: dict[tuple[str, str], Begun] = {}

    # ── as text, and in which order ──────────────────────────────────────────────────────────────

    @classmethod
    def verbs_of(cls, actor: str) -> Sequence[str]:
        """Those of the lab, or those of a client."""
        if actor in (NEMESIS, LOAD):
            return ()
        return tuple(LAB_VERBS if actor == LAB else CLIENT_VERBS)

    @classmethod
    def read_line(cls, actor: str, verb: str, words: Sequence[str], line: int | None) -> Step:
        """The step of a line, with its call."""
        return boundary_text.read_line(actor, verb, words, line)

    @classmethod
    def words_of(cls, step: Step) -> list[str]:
        """The words of its line, in short names."""
        return boundary_text.words_of(step)

    @classmethod
    def follow_order(cls) -> Callable[[Step], None]:
        """By the order table."""
        return Order().follow

    def verbs_here(self, actor: str) -> Sequence[str]:
        """Those verbs for which there are levers and probes here."""
        able = self.able
        return tuple(one for one in self.verbs_of(actor) if one in able)

    @property
    def able(self) -> frozenset[str]:
        """All verbs that can be played here."""
        missing = {verb for verb in FAULTS if self._faults.missing(FAULTS[verb], _target(verb))}
        missing |= {end for verb, end in ENDED_BY.items() if verb in missing}
        if "control_plane" not in self._on.probes:
            missing.add("probe")
        if not self._on.upgrades:
            missing.add("upgrade")
        return frozenset(self.verbs) - missing

    # ── playing ──────────────────────────────────────────────────────────────────────────────────

    async def carry_out(self, step: Step, meant: Mapping[str, Any]) -> None:
        """Take a step, which takes a little time."""
        try:
            self._follow(step)
        except OutOfOrder as problem:
            raise ScriptError(f"{where(step, type(self))}: {problem}") from None
        if step.actor != LAB and step.actor not in self._clients:
            client = self._clients[step.actor] = await self._on.client(step.actor)
            await client.ready()
        await getattr(self, self._methods[step.verb])(step)
        await asyncio.sleep(STEP_S)
        self._faults.look()

    async def finish(self) -> None:
        """Record that what is open will never be answered, and that all faults are over."""
        for asked in self._asked.values():
            for operation in asked.operations:
                self._recorder.complete(operation, None)
            asked.task.cancel()
        await asyncio.gather(*(one.task for one in self._asked.values()), return_exceptions=True)
        self._asked.clear()
        await self._faults.heal_all()

    # ── clients ──────────────────────────────────────────────────────────────────────────────────

    @verb(drawn=False)
    async def call(self, step: Step) -> None:
        """Send it and wait for the reply."""
        self._ask(step)
        await self._answer(step.actor)

    @verb(drawn=False)
    async def begin(self, step: Step) -> None:
        """Send it, do not wait."""
        self._ask(step)

    @verb(drawn=False)
    async def end(self, step: Step) -> None:
        """Wait for the reply of what was begun."""
        await self._answer(step.actor)

    @verb(drawn=False)
    async def hold(self, step: Step) -> None:
        """Send it, keep it in the network."""
        held = await self._begin(step)
        asked = self._ask(step)
        asked.urged.set()
        acting = asyncio.ensure_future(held.levers.acted())
        asked.task.add_done_callback(lambda _: acting.cancel())
        await asyncio.gather(acting, return_exceptions=True)

    @verb(drawn=False)
    async def step(self, step: Step) -> None:
        """Let one transaction of it through: then it is answered, or the next one is held."""
        hold, asked = self._begun["hold", step.actor].levers, self._asked[step.actor]
        held = hold.counts["requests_held"]
        await self._begin(step)
        while not asked.task.done() and hold.counts["requests_held"] == held:
            await asyncio.sleep(LOOK_S)

    @verb(drawn=False)
    async def release(self, step: Step) -> None:
        """Let it go and wait for the reply."""
        await self._end("hold", step.actor)
        await self._answer(step.actor)

    @verb(drawn=False)
    async def lose(self, step: Step) -> None:
        """It is carried out, its reply is lost."""
        await self._lost(step)

    @verb(drawn=False)
    async def drop(self, step: Step) -> None:
        """It is lost before the control plane sees it."""
        await self._lost(step)

    @verb(drawn=False)
    async def kill(self, step: Step) -> None:
        """End the client at once while its operation is open; then it starts again."""
        await self._begin(step)
        await self._answer(step.actor)
        for other in ("hold", "pause", "kill"):
            await self._end(other, step.actor)

    @verb(drawn=False)
    async def pause(self, step: Step) -> None:
        """Let the client stand still: a zombie in the making."""
        await self._begin(step)

    @verb(drawn=False)
    async def resume(self, step: Step) -> None:
        """Let the client go on."""
        await self._end("pause", step.actor)

    # ── the control plane ────────────────────────────────────────────────────────────────────────

    @verb(drawn=False)
    async def refuse(self, step: Step) -> None:
        """Refuse and reset connections."""
        await self._begin(step)

    @verb(drawn=False)
    async def heal(self, step: Step) -> None:
        """Accept connections again."""
        await self._end("refuse", LAB)

    @verb(drawn=False)
    async def break_(self, step: Step) -> None:
        """Answer with a hard error."""
        await self._begin(step)

    @verb(drawn=False)
    async def mend(self, step: Step) -> None:
        """Answer properly again."""
        await self._end("break", LAB)

    @verb(drawn=False)
    async def disturb(self, step: Step) -> None:
        """Give up on calls for reasons that pass."""
        await self._begin(step)

    @verb(drawn=False)
    async def settle(self, step: Step) -> None:
        """Answer properly again."""
        await self._end("disturb", LAB)

    @verb(drawn=False)
    async def probe(self, step: Step) -> None:
        """Record the rows of the control plane's tables."""
        self._recorder.probe("control_plane", await self._on.probe("control_plane"))

    @verb(drawn=False)
    async def upgrade(self, step: Step) -> None:
        """Create logs under the old schema, then run the migrations that are left."""
        topic, partitions = step.arguments.get("topic", ""), step.arguments.get("partition", ())
        operations = [
            self._recorder.invoke(
                f"{LAB}-{one}", "upgrade_schema", {"topic": topic, "partition": one}
            )
            for one in partitions
        ]
        await self._on.upgrade([(self._recorder.topic(topic), one) for one in partitions])
        for operation in operations:
            self._recorder.complete(operation, Answer(error="NONE", stored={}))

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    def _ask(self, step: Step) -> _Asked:
        assert step.f is not None, "the order table and the text see to it"
        partitions = boundary_text.partitions_of(step)
        operations = self._recorder.invoke_many(step.actor, step.f, partitions)
        urged = asyncio.Event()
        task = asyncio.ensure_future(self._carry(operations, self._clients[step.actor], urged))
        asked = self._asked[step.actor] = _Asked(operations=operations, task=task, urged=urged)
        return asked

    async def _carry(
        self, operations: Sequence[Operation], client: Client, urged: asyncio.Event
    ) -> None:
        urgency.set(urged)
        answers: Sequence[Answer | None] = [None] * len(operations)
        asked = [
            {name: value for name, value in one.arguments.items() if name != "together"}
            for one in operations
        ]
        with contextlib.suppress(ClientLost):
            answers = await client.control_plane_many(operations[0].f, asked)
        for operation, answer in zip(operations, answers, strict=True):
            self._recorder.complete(operation, answer)

    async def _answer(self, client: str) -> None:
        """Wait until what a client asked is over."""
        asked = self._asked[client]
        asked.urged.set()
        await asked.task
        del self._asked[client]

    async def _lost(self, step: Step) -> None:
        """Lose the request or its reply, whether it leaves now or was held before."""
        await self._begin(step)
        if step.f is None:
            await self._end("hold", step.actor)
        else:
            self._ask(step)
        await self._answer(step.actor)
        await self._end(step.verb, step.actor)

    async def _begin(self, step: Step) -> Begun:
        begun = await self._faults.begin(FAULTS[step.verb], _target(step.verb, step.actor))
        self._begun[step.verb, step.actor] = begun
        return begun

    async def _end(self, verb: str, actor: str) -> None:
        if (begun := self._begun.pop((verb, actor), None)) is not None:
            await self._faults.end(begun)


def _target(verb: str, client: str = "a") -> str:
    """Whom the fault of a verb hits."""
    return CONTROL_PLANE if verb in OUTAGES else f"client {client}"
