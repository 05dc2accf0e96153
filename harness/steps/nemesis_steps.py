"""Steps of a nemesis that any machine may have: what can happen to nodes, links and disks.

Every step says how much time passes after it, and every fault how long it lasts. A step that is out
of place, because its fault is in force already or its node is down or there are faults enough, does
nothing else: a program from which Hypothesis takes steps away stays a program. Preconditions would
be in its way: a rule that they rule out is drawn again, and then its step takes too many draws to
be taken away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from harness.simulation.faults import Fault, OutOfPlace
from harness.simulation.gate import Act
from harness.simulation.network import LAB
from harness.steps.machine import SimulatedMachine, step


def a_node(machine: SimulatedMachine) -> list[str]:
    """One of its nodes."""
    return [*machine.sim.nodes]


def a_host(machine: SimulatedMachine) -> list[str]:
    """A node, or where the clients are."""
    return [*machine.sim.nodes, LAB]


A_WHILE = (0, 10, 100, 700)  # milliseconds
SO_LONG = (None, 200, 1500)  # milliseconds; None is until somebody heals it
ACTS = [act.name for act in Act]
DISK_FAULTS = ["disk_failing", "disk_full", "sync_failing"]


class NemesisSteps(SimulatedMachine):
    """Nodes die and stand still, links break, disks fail, and faults are healed."""

    max_faults = 2  # at a time

    # Nodes.

    @step(node=a_node, lasts=SO_LONG, ms=A_WHILE)
    def kill(self, node: str, lasts: int | None, ms: int) -> None:
        """A process is killed."""
        self._inject(lasts, ms, self.sim.faults.kill, node)

    @step(node=a_node, lasts=SO_LONG, ms=A_WHILE)
    def lose_power(self, node: str, lasts: int | None, ms: int) -> None:
        """A machine goes dark."""
        self._inject(lasts, ms, self.sim.faults.lose_power, node)

    @step(ms=A_WHILE)
    def black_out(self, ms: int) -> None:
        """All machines go dark, as if in one room, and start again."""
        dark = [
            self.sim.faults.lose_power(name) for name, node in self.sim.nodes.items() if node.up
        ]
        for fault in dark:
            fault.heal()
        self.pass_time(ms)

    @step(node=a_node, lasts=SO_LONG, ms=A_WHILE)
    def pause(self, node: str, lasts: int | None, ms: int) -> None:
        """A process stands still."""
        self._inject(lasts, ms, self.sim.faults.pause, node)

    @step(node=a_node, ahead=range(1, 21), act=ACTS, lasts=SO_LONG, ms=A_WHILE)
    def strike(self, node: str, ahead: int, act: str, lasts: int | None, ms: int) -> None:
        """One of the next effects of a node fails, is not answered, or is its last."""
        number = self.sim.effects.counts.get(node, 0) + ahead
        self._inject(lasts, ms, self.sim.faults.at_effect, node, number, Act[act])

    # Links.

    @step(here=a_host, there=a_host, both=(False, True), lasts=SO_LONG, ms=A_WHILE)
    def cut(self, here: str, there: str, both: bool, lasts: int | None, ms: int) -> None:
        """A link is cut, one way or both."""
        if here != there:
            self._inject(lasts, ms, self.sim.faults.cut, here, there, both=both)

    @step(node=a_node, lasts=SO_LONG, ms=A_WHILE)
    def isolate(self, node: str, lasts: int | None, ms: int) -> None:
        """A node hears no other, and no other hears it; clients reach it as before."""
        others = [name for name in self.sim.nodes if name != node]
        self._inject(lasts, ms, self.sim.faults.cut, node, others)

    @step(here=a_host, there=a_host, by=(20, 60, 300), lasts=SO_LONG, ms=A_WHILE)
    def delay(self, here: str, there: str, by: int, lasts: int | None, ms: int) -> None:
        """What is sent from here to there takes so many milliseconds longer."""
        if here != there:
            self._inject(lasts, ms, self.sim.faults.delay, here, there, by / 1000, both=False)

    # Disks.

    @step(node=a_node, by=(10, 50, 200), lasts=SO_LONG, ms=A_WHILE)
    def slow_disk(self, node: str, by: int, lasts: int | None, ms: int) -> None:
        """Whatever changes a disk takes so many milliseconds longer."""
        self._inject(lasts, ms, self.sim.faults.disk_slow, node, by / 1000)

    @step(node=a_node, how=DISK_FAULTS, lasts=SO_LONG, ms=A_WHILE)
    def break_disk(self, node: str, how: str, lasts: int | None, ms: int) -> None:
        """Whatever changes a disk fails, or what needs room, or syncs do."""
        self._inject(lasts, ms, getattr(self.sim.faults, how), node)

    # And back.

    @step(which=(0, 1), ms=A_WHILE)
    def heal(self, which: int, ms: int) -> None:
        """A fault ends: a node starts, goes on, a link is whole."""
        active = self.sim.faults.active
        if active:
            active[which % len(active)].heal()
        self.pass_time(ms)

    def _inject(
        self, lasts: int | None, ms: int, inject: Callable[..., Fault], *args: Any, **options: Any
    ) -> None:
        with suppress(OutOfPlace):
            if len(self.sim.faults.active) < self.max_faults:
                fault = inject(*args, **options)
                if lasts is not None:
                    self.sim.spawn(_healed_after(fault, lasts / 1000))
        self.pass_time(ms)

    def pass_time(self, ms: int) -> None:
        """Let so many milliseconds pass."""
        self.sim.advance(ms / 1000)


async def _healed_after(fault: Fault, seconds: float) -> None:
    await asyncio.sleep(seconds)
    fault.heal()
