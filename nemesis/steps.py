"""Faults as steps of the actor `nemesis`: every fault is a verb, with its options.

    nemesis  kill    target=broker-1 lasts=200 ms=100        ends after 200 ms; 100 ms pass
    nemesis  isolate target="leader of t-0"                  until it is ended
    nemesis  object-store-slow target=object-store seconds=2
    nemesis  end     fault=cut                               the newest of that name
    nemesis  end     fault=kill target="leader of t-0"       who led when it was begun
    nemesis  heal    which=0                                 the oldest
    nemesis  heal-all
    nemesis  kill    target="leader of t-0 with 1 follower behind" wait=5000

What a target meant is recorded with the step. One that is not there yet is waited for, if told. A
step is skipped, and its line says why, if its target is out of place, if there are faults enough,
or if the cluster did not recover from those before. So is the end of a fault that is over, or whose
begin was skipped; the end of one that no step before it asked for is a mistake.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, ClassVar

from harness.deployments.deployment import Deployment, Role
from harness.errors import UsageError
from harness.steps.step import NEMESIS, Step
from harness.steps.vocabulary import Choices, Does, Vocabulary, verb
from nemesis.faults import FAULTS
from nemesis.nemesis import Active, Nemesis
from nemesis.targets import NoTarget, Target

A_WHILE = (0, 10, 100, 700)  # milliseconds
SO_LONG = (None, 200, 1500)  # milliseconds; None is until it is ended
SOON_MS = (0, 2, 5, 20)  # after clients began: in the middle of what they do
RESTART_MS = 50
TURN_MS = 400
TURNS = 5  # in which another broker has to lead
ISOLATED = "{} <-> everything else"
DEPOSED = {"kill": "{}", "pause": "{}", "cut": ISOLATED}  # how, and the target
ENDING = ("end", "heal", "heal-all")
SKIPPED = "skipped"
LOOK_MS = 100  # between two looks for a target that may yet come about
_GIVEN = {
    "target": "str",
    "lasts": "int | None",
    "ms": "int",
    "part": "str | None",
    "wait": "int",
}


def a_broker(trial: Any) -> Sequence[str]:
    """One of the brokers of a trial."""
    names: Sequence[str] = trial.system.nodes(Role.BROKER)
    return names


def a_node(trial: Any) -> Sequence[str]:
    """A broker, the leader, or the controller."""
    return (*a_broker(trial), f"leader of {trial.partition}", *trial.system.nodes(Role.CONTROLLER))


def a_link(trial: Any) -> Sequence[str]:
    """Between two nodes, or between a broker and the clients; both ways or one."""
    brokers = a_broker(trial)
    nodes = (*brokers, *trial.system.nodes(Role.CONTROLLER))
    ends = [*combinations(nodes, 2), *((one, "all clients") for one in brokers)]
    arrows = ("{} <-> {}", "{} -> {}", "{1} -> {0}")
    return [one.format(*two) for two in ends for one in arrows]


def a_replica_link(trial: Any) -> Sequence[str]:
    """Between two replicas, or between a follower and the controller; both ways."""
    follower, leader = (f"{one} of {trial.partition}" for one in ("follower", "leader"))
    brokers = [f"{one} <-> {two}" for one, two in combinations(a_broker(trial), 2)]
    return [f"{follower} <-> {leader}", *brokers, f"{follower} <-> controller"]


# Which faults are drawn, and what their arguments are drawn from.
DRAWN: Mapping[str, Mapping[str, Choices]] = {
    "kill": {"target": a_node, "lasts": SO_LONG, "ms": A_WHILE},
    "pause": {"target": a_node, "lasts": SO_LONG, "ms": A_WHILE},
    "cut": {"target": a_link, "lasts": SO_LONG, "ms": A_WHILE},
    "delay": {"target": a_link, "seconds": (0.02, 0.06, 0.3), "lasts": SO_LONG, "ms": A_WHILE},
}


def _begins(fault: str) -> Does:
    """The verb of a fault."""

    async def begin(self: NemesisSteps, step: Step, target: str, **given: Any) -> None:
        await self.begin(fault, target, **given)

    begin.__name__, begin.__doc__ = fault, FAULTS[fault].does
    return verb(drawn=fault in DRAWN, **DRAWN.get(fault, {}))(begin)


_FaultVerbs = type("_FaultVerbs", (Vocabulary,), {name: _begins(name) for name in FAULTS})


# Verbs that are other words for a fault.
SHORT = {"isolate": "cut", "partition-replicas": "cut"}


class NemesisSteps(_FaultVerbs):  # type: ignore[misc, valid-type]
    """What is done to a deployment. `stir` lets clients send before a fault in their midst."""

    actors: ClassVar[Sequence[str]] = (NEMESIS,)

    def __init__(
        self,
        on: Deployment,
        nemesis: Nemesis,
        *,
        partition: str = "t-0",
        most: int | None = None,
        spared: Callable[[], str] = lambda: "",
        stir: Callable[[str], None] = lambda leader: None,
    ) -> None:
        """At most so many faults at a time; none while `spared` gives a reason."""
        self._on = on
        self._nemesis = nemesis
        self._leader = f"leader of {partition}"
        self._most = most
        self._spared = spared
        self._stir = stir
        self._found = Target(label="")
        self._text = ""  # as which it was asked for
        self._ever: set[tuple[str, str]] = set()  # fault and target of every step, also skipped
        self._healing: list[asyncio.Task[None]] = []

    @classmethod
    def further(cls, verb: str, words: Sequence[str]) -> Mapping[str, str]:
        """Targets and times, and the options of the fault that is begun."""
        fault = FAULTS.get(SHORT.get(verb, verb))
        options = fault.options if fault is not None else {}
        return {**_GIVEN, **{name: _kind(default) for name, default in options.items()}}

    async def resolve(self, step: Step) -> Mapping[str, Any]:
        """Who is hit, or why nothing is done."""
        if step.verb == "end":
            return self._over(**step.arguments)
        if step.verb in ENDING:
            return {}
        if (asked := self._asked(step)) is not None:
            self._ever.add(asked)
            self._text = asked[1]
        if reason := self._spared():
            return {SKIPPED: reason}
        if self._most is not None and len(self._nemesis.active) >= self._most:
            return {SKIPPED: f"{self._most} faults are in force"}
        if asked is None:
            return {}
        return await self._meant(*asked, left=int(step.arguments.get("wait", 0)))

    async def _meant(self, fault: str, text: str, *, left: int) -> Mapping[str, Any]:
        """Who is hit; one that is not there is looked for until nothing is left of the time."""
        while True:
            try:
                self._found = await self._nemesis.find(fault, text)
            except NoTarget as why:
                if left <= 0:
                    return {SKIPPED: str(why)}
            else:
                self._ever.add((fault, self._found.label))
                return {"target": self._found.label}
            left -= LOOK_MS
            await self._pass(LOOK_MS)

    async def carry_out(self, step: Step, meant: Mapping[str, Any]) -> None:
        """Unless it is skipped; what has landed since is written down, and what could not be ended
        in time is an error of this step."""
        for healed in [one for one in self._healing if one.done()]:
            self._healing.remove(healed)
            healed.result()
        if SKIPPED in meant:
            await self._pass(step.arguments.get("ms", 0))
        else:
            await super().carry_out(step, meant)
        self._nemesis.look()

    @verb(how=tuple(DEPOSED), soon=SOON_MS, lasts=SO_LONG)
    async def depose(self, step: Step, how: str, soon: int, lasts: int | None, target: str) -> None:
        """Let the leader fall while clients send, and wait until there is another."""
        (leader,) = self._found.nodes or self._found.links[0].sources
        self._stir(leader)
        await self._pass(soon)
        await self.begin(how, target, lasts=lasts)
        for _ in range(TURNS):
            await self._pass(TURN_MS)
            with suppress(NoTarget):
                if (await self._nemesis.find("kill", self._leader)).nodes != (leader,):
                    return

    @verb(target=a_broker, soon=SOON_MS, ms=A_WHILE)
    async def bounce(self, step: Step, target: str, soon: int, ms: int) -> None:
        """Let a broker die while clients send, and be back at once."""
        self._stir(target)
        await self._pass(soon)
        await self.begin("kill", target, lasts=RESTART_MS, ms=ms)

    @verb(ms=A_WHILE)
    async def roll(self, step: Step, ms: int) -> None:
        """Kill and start all brokers, one after the other, faster than is good for them."""
        for broker in self._on.nodes(Role.BROKER):
            killed = await self._nemesis.begin("kill", broker)
            await self._pass(RESTART_MS)
            await self._nemesis.end(killed)
            await self._pass(TURN_MS)
        await self._pass(ms)

    @verb(target=a_replica_link, lasts=SO_LONG, ms=A_WHILE)
    async def partition_replicas(self, step: Step, target: str, **given: Any) -> None:
        """Let replicas hear each other no more, or a follower the controller."""
        await self.begin("cut", target, **given)

    @verb(target=a_node, lasts=SO_LONG, ms=A_WHILE)
    async def isolate(self, step: Step, **given: Any) -> None:
        """Cut a node off from all other nodes; clients reach it as before."""
        await self.begin("cut", **given)

    @verb(drawn=False)
    async def end(self, step: Step, fault: str, target: str | None = None) -> None:
        """End the newest fault of that name, or of those on a target."""
        if (active := self._nemesis.newest(fault, target)) is not None:
            await self._nemesis.end(active)

    @verb(which=(0, 1), ms=A_WHILE)
    async def heal(self, step: Step, which: int, ms: int = 0) -> None:
        """End one of the faults in force, by its age."""
        active = self._nemesis.active
        if active:
            await self._nemesis.end(active[which % len(active)])
        await self._pass(ms)

    @verb(drawn=False)
    async def heal_all(self, step: Step) -> None:
        """End all faults."""
        await self._nemesis.heal_all()

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    def _over(self, fault: str, target: str | None = None) -> Mapping[str, Any]:
        """Why there is nothing to end, if there is nothing; an error where there never was."""
        if self._nemesis.newest(fault, target) is not None:
            return {}
        on = "" if target is None else f" on {target!r}"
        ever = sorted(hit for name, hit in self._ever if name == fault)
        if not ever or target not in (None, *ever):
            told = f"; on {', '.join(ever)}" if ever else ""
            raise UsageError(f"nemesis end: no {fault} was begun{on}{told}")
        return {SKIPPED: f"no {fault} is in force{on}"}

    def _asked(self, step: Step) -> tuple[str, str] | None:
        """The fault and the target of a step, if it has one."""
        given = step.arguments
        target = str(given.get("target", ""))
        if step.verb == "roll":
            return None
        if step.verb == "depose":
            return given["how"], DEPOSED[given["how"]].format(self._leader)
        if step.verb == "isolate":
            return "cut", ISOLATED.format(target)
        if step.verb in ("partition-replicas", "bounce"):
            return "kill" if step.verb == "bounce" else "cut", target
        return step.verb, target

    async def begin(
        self,
        fault: str,
        target: str,
        *,
        lasts: int | None = None,
        ms: int = 0,
        part: str | None = None,
        wait: int = 0,
        **options: Any,
    ) -> None:
        """Begin a fault on the target that was found; it ends after `lasts`, `ms` pass.

        A target that is not there yet was waited for, `wait` ms at most.
        """
        active = await self._nemesis.begin(
            fault, self._found, asked=self._text, part=part, **options
        )
        if lasts is not None:
            healing = asyncio.ensure_future(self._end_after(active, lasts))
            self._healing.append(healing)
        await self._pass(ms)

    async def _end_after(self, active: Active, ms: int) -> None:
        await self._pass(ms)
        await self._nemesis.end(active)

    async def _pass(self, ms: int) -> None:
        await asyncio.sleep(ms / 1000 * self._on.pace)


def _kind(default: object) -> str:
    """Of an option, by its default; one without any is a count."""
    return "int | None" if default is None else type(default).__name__
