"""What can be done to links: between nodes, and from nodes to services.

One way or both, one node from all others, a ring, a bridge: that is said by the target.
"""

from __future__ import annotations

from types import MappingProxyType

from harness.deployments.deployment import Role
from nemesis.fault import NODES, ONE_LEADER, Fault
from nemesis.pulling import on_each_link
from nemesis.targets import Takes

# As long as all brokers hear the controller they agree on who leads.
_UNHEARD = MappingProxyType({Role.CONTROLLER: ONE_LEADER})
_ROLES = (*NODES, Role.CONTROL_PLANE, Role.OBJECT_STORE)


FAULTS = (
    Fault(
        name="cut",
        roles=_ROLES,
        takes=Takes.LINKS,
        does="lets nothing pass; bytes wait until it heals or their sender gives up",
        levers=("cut",),
        landed=(("deliveries_held", "packets_dropped"),),
        inject=on_each_link(
            lambda levers, one, _: levers.cut(one.sources, one.targets, both=one.both)
        ),
        suspends=_UNHEARD,
        targets=(
            "leader of {partition} <-> everything else",
            "leader of {partition} -> everything else",
            "follower of {partition} <-> leader of {partition}",
            "ring",
            "bridge over follower of {partition}",
        ),
    ),
    Fault(
        name="delay",
        roles=_ROLES,
        takes=Takes.LINKS,
        does="makes everything that passes take longer",
        levers=("delay",),
        landed=(("deliveries_delayed",),),
        inject=on_each_link(
            lambda levers, one, o: levers.delay(
                one.sources, one.targets, o["seconds"], both=one.both
            )
        ),
        suspends=_UNHEARD,
        options={"seconds": 0.3},
        targets=("leader of {partition} -> everything else",),
    ),
    Fault(
        name="lossy",
        roles=(Role.BROKER, Role.CONTROLLER),
        takes=Takes.LINKS,
        does="loses a part of the packets between nodes, which are sent again",
        levers=("lose_packets",),
        landed=(("packets_dropped",),),
        inject=on_each_link(
            lambda levers, one, o: levers.lose_packets(
                one.sources, one.targets, o["fraction"], both=one.both
            )
        ),
        suspends=_UNHEARD,
        options={"fraction": 0.2},
        targets=("leader of {partition} <-> everything else",),
    ),
)
