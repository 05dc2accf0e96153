"""What can be done to the clocks of a node; in simulations."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

from harness.deployments.deployment import Role
from nemesis.fault import NODES, ONE_LEADER, Fault
from nemesis.pulling import on_each_node
from nemesis.targets import Takes

_fault = partial(
    Fault,
    roles=NODES,
    takes=Takes.NODES,
    landed=(("clock_reads",),),
    targets=("leader of {partition}", "follower of {partition}", "controller"),
)

FAULTS = (
    _fault(
        name="clock-shift",
        does="moves the time of day",
        levers=("shift_clock",),
        inject=on_each_node(lambda levers, node, o: levers.shift_clock(node, o["milliseconds"])),
        options={"milliseconds": 60_000},
    ),
    _fault(
        name="clock-drift",
        does="lets the clocks run too fast or too slow",
        levers=("drift_clock",),
        inject=on_each_node(lambda levers, node, o: levers.drift_clock(node, o["rate"])),
        # With the wrong pace a broker misses the end of its session.
        suspends=MappingProxyType({Role.BROKER: ONE_LEADER, Role.CONTROLLER: ONE_LEADER}),
        options={"rate": 0.5},
    ),
)
