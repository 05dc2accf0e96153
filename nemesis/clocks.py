"""What can be done to the clocks of a node; in simulations."""

from __future__ import annotations

from types import MappingProxyType

from harness.deployments.deployment import Role
from nemesis.disks import on_each
from nemesis.fault import NODES, ONE_LEADER, Fault
from nemesis.targets import Takes

_TARGETS = ("leader of {partition}", "follower of {partition}", "controller")

FAULTS = (
    Fault(
        name="clock-shift",
        roles=NODES,
        takes=Takes.NODES,
        does="moves the time of day",
        levers=("shift_clock",),
        landed=(("clock_reads",),),
        shows="readings of the clock since",
        inject=on_each(lambda levers, node, o: levers.shift_clock(node, o["milliseconds"])),
        options={"milliseconds": 60_000},
        targets=_TARGETS,
    ),
    Fault(
        name="clock-drift",
        roles=NODES,
        takes=Takes.NODES,
        does="lets the clocks run too fast or too slow",
        levers=("drift_clock",),
        landed=(("clock_reads",),),
        shows="readings of the clock since",
        inject=on_each(lambda levers, node, o: levers.drift_clock(node, o["rate"])),
        # With the wrong pace a broker misses the end of its session.
        suspends=MappingProxyType({Role.BROKER: ONE_LEADER, Role.CONTROLLER: ONE_LEADER}),
        options={"rate": 0.5},
        targets=_TARGETS,
    ),
)
