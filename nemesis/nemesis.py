"""The nemesis of one deployment: begins faults by name, writes down what they did, ends them.

A fault leaves up to three lines: `begin`, `landed` as soon as the counts of its levers show that it
acted, and `end`, which is written before the levers are released: its window is never wider than
the fault. The assumption it breaks is suspended from before its begin until the cluster was seen at
rest after its end, because a deposed leader has to find out first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from harness.deployments.deployment import Deployment, Role
from harness.errors import UsageError
from harness.history.recorder import Fault as FaultLine
from harness.levers import Together
from nemesis.fault import Fault, OnHold, State
from nemesis.faults import FAULTS
from nemesis.offered import levers_missing
from nemesis.targets import Finder, NoTarget, Target

HOLD = "hold-request"


@dataclass(slots=True, kw_only=True, eq=False)
class Active:
    """A fault from its begin to its end; one that was out of place never began."""

    fault: Fault
    asked: str  # the target as it was asked for
    target: Target
    out_of_place: str = ""  # why, if it was
    line: FaultLine | None = None
    levers: Together = field(default_factory=lambda: Together(()))
    ended_ns: int | None = None

    @property
    def in_force(self) -> bool:
        """Whether it has begun and not ended."""
        return self.line is not None and self.ended_ns is None

    @property
    def landed(self) -> bool:
        """Whether the counts of its levers show that it acted."""
        return self.fault.has_landed(self.levers.counts)


class Nemesis:
    """Does things to one deployment. Chance, if given, chooses what a target leaves open."""

    def __init__(self, deployment: Deployment, *, chance: random.Random | None = None) -> None:
        self._on = deployment
        self._finder = Finder(deployment, chance)
        self._begun: list[Active] = []
        self._suspended: list[tuple[Active, Callable[[], None]]] = []

    @property
    def active(self) -> tuple[Active, ...]:
        """The faults in force, oldest first."""
        return tuple(self._begun)

    def newest(self, name: str, target: str | None = None) -> Active | None:
        """The newest fault of that name, or of those on a target as it was asked for or found."""
        same = (one for one in reversed(self._begun) if one.fault.name == name)
        return next((one for one in same if target in (None, one.asked, one.target.label)), None)

    def missing(self, name: str, target: str) -> str | None:
        """Why a fault cannot be done here to such a target, if it cannot."""
        return levers_missing(self._on, _fault(name, {}), target)

    async def find(self, name: str, target: str) -> Target:
        """Whom a fault would hit now; NoTarget if it would be out of place."""
        return await self._find(_fault(name, {}), target)

    async def begin(
        self,
        name: str,
        target: str | Target = "",
        *,
        asked: str | None = None,
        part: str | None = None,
        **options: Any,
    ) -> Active:
        """Begin a fault on a target, named or found as it was asked for; `part` asks for it.

        A fault that is in force there already, or whose target is down or cannot be found, is out
        of place: nothing is done or written, so a program without some of its steps is a program.
        """
        fault = _fault(name, options)
        if asked is None:
            asked = target if isinstance(target, str) else target.label
        if (reason := levers_missing(self._on, fault, asked)) is not None:
            raise UsageError(f"{name}: {reason}")
        try:
            found = await self._find(fault, target)
            hold = self._hold_under(fault, found)
        except NoTarget as why:
            nowhere = Target(label=asked)
            return Active(fault=fault, asked=asked, target=nowhere, out_of_place=str(why))
        active = Active(fault=fault, asked=asked, target=found)
        options = {**fault.options, **options}
        if hold is not None:
            (options["hold"],) = hold.levers.levers
            if fault.on_hold is OnHold.ENDS:
                self._close(hold)
        await self._inject(active, part, options)
        if fault.at_once or hold is not None:
            await self.end(active)
        return active

    async def end(self, active: Active) -> None:
        """End a fault; one that is over or never began is left alone."""
        if active.in_force:
            self._close(active)
            await active.levers.release()

    async def heal_all(self) -> None:
        """End every fault, the newest first; the first error is raised once all have ended."""
        errors: list[Exception] = []
        for active in self._begun[::-1]:
            try:
                await self.end(active)
            except Exception as error:  # the others end all the same
                errors.append(error)
        if errors:
            raise errors[0]

    def look(self) -> None:
        """Write down which faults have landed since the last look."""
        for active in self._begun:
            self._look(active)

    @property
    def waits_for_rest(self) -> bool:
        """Whether an assumption is suspended by a fault that has ended."""
        return any(active.ended_ns is not None for active, _ in self._suspended)

    def resume_assumptions(self, looked_ns: int | None = None) -> None:
        """The cluster is at rest, by a look begun at that time; what it suspended holds again.

        What faults suspended that have not ended before that look stays suspended.
        """
        kept = []
        for active, resume in self._suspended:
            ended = active.ended_ns
            if ended is None or (looked_ns is not None and ended > looked_ns):
                kept.append((active, resume))
            else:
                resume()
        self._suspended = kept

    # ── how ──────────────────────────────────────────────────────────────────────────────────────

    async def _find(self, fault: Fault, asked: str | Target) -> Target:
        """Who is hit: of several nodes those that can be."""
        states = await self._states()
        self._finder.silent = tuple(states)
        found = asked
        if isinstance(found, str):
            found = await self._finder.find(found, fault.takes, fault.roles[0].value)
        nodes = tuple(one for one in found.nodes if _can_be_hit(fault, states.get(one)))
        if found.nodes and not nodes:
            raise NoTarget(f"{found.label} is {states[found.nodes[0]].value}")
        if nodes != found.nodes:
            found = replace(found, label=",".join(nodes), nodes=nodes)
        if any((one.fault, one.target.label) == (fault, found.label) for one in self._begun):
            raise NoTarget(f"{fault.name} is in force on {found.label}")
        return found

    async def _states(self) -> dict[str, State]:
        """Nodes that are down or stand still, by what was done to them and what can be seen."""
        states: dict[str, State] = {}
        if "nodes" in self._on.probes:
            seen = [(str(row["node"]), row["state"]) for row in await self._on.probe("nodes")]
            running = [node for node, state in seen if state == "running"]  # perhaps once more
            states = {node: State.DOWN for node, _ in seen if node not in running}
        for active in self._begun:
            fault = active.fault
            if fault.state is not State.RUNNING and (not fault.later or active.landed):
                for node in active.target.nodes:
                    states.setdefault(node, fault.state)
        return states

    def _hold_under(self, fault: Fault, target: Target) -> Active | None:
        """The hold in force on the requests that a fault is about."""
        if fault.on_hold is OnHold.IGNORES:
            return None
        held = (one for one in self._begun if one.fault.name == HOLD)
        hold = next((one for one in held if one.target.label == target.label), None)
        if hold is None and fault.on_hold is OnHold.NEEDS:
            raise NoTarget(f"no request is held at {target.label}")
        return hold

    async def _inject(self, active: Active, part: str | None, options: dict[str, Any]) -> None:
        fault, target, recorder = active.fault, active.target, self._on.recorder
        over = self._pauses_ended_by(fault, target)
        for pause in over:
            self._close(pause)
        for assumption in self._broken_by(fault, target):
            resume = recorder.suspend_assumption(assumption, f"{fault.name} on {target.label}")
            self._suspended.append((active, resume))
        before, recorder.plan_part = recorder.plan_part, part or recorder.plan_part
        active.line = recorder.begin_fault(fault.name, target.label)
        recorder.plan_part = before
        self._begun.append(active)
        try:
            active.levers = Together(await fault.inject(self._on, target, options))
        except BaseException:
            self._close(active)
            raise
        self._look(active)
        for pause in over:
            await pause.levers.release()

    def _pauses_ended_by(self, fault: Fault, target: Target) -> list[Active]:
        """Pauses of nodes that are ended now: nothing of them is left to stand still."""
        paused = [one for one in self._begun if one.fault.state is State.STANDING]
        at_once = fault.state is State.DOWN and not fault.later
        ended = set(target.nodes if at_once else ())
        return [one for one in paused if ended.issuperset(one.target.nodes)]

    def _broken_by(self, fault: Fault, target: Target) -> list[str]:
        """The assumptions that do not hold while such a target is hit."""
        hit = [
            assumption
            for role, assumption in fault.suspends.items()
            if set(target.hosts).intersection((*self._on.nodes(role), *self._further(role)))
        ]
        return list(dict.fromkeys(hit))

    def _further(self, role: Role) -> list[str]:
        """A node that is none of this deployment, but at the end of links that can be cut."""
        return [one for one in self._on.levers.further_ends if one == role.value]

    def _look(self, active: Active) -> None:
        line = active.line
        if line is not None and not line.landed and active.landed:
            self._on.recorder.landed(line, active.levers.counts)

    def _close(self, active: Active) -> None:
        """Write down that a fault ends; to be called before its levers are released."""
        if active.line is None:
            return
        self._look(active)
        self._on.recorder.end_fault(active.line, active.levers.counts)
        active.ended_ns = self._on.now_ns()
        self._begun.remove(active)


def _can_be_hit(fault: Fault, now: State | None) -> bool:
    """Nothing is done to what is down; what stands still is not paused again, nor stopped."""
    if now is State.STANDING:
        return fault.state is not State.STANDING and "stop" not in fault.levers
    return now is not State.DOWN


def _fault(name: str, options: Mapping[str, Any]) -> Fault:
    fault = FAULTS.get(name)
    if fault is None:
        raise UsageError(f"there is no fault {name!r}; there are: {', '.join(FAULTS)}")
    for one in options:
        if one not in fault.options:
            raise UsageError(f"{name} has no option {one!r}; it has: {', '.join(fault.options)}")
    return fault
