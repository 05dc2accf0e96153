"""What can be done to links: between nodes, and from nodes to services.

One way or both, one node from all others, a ring, a bridge: that is said by the target.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from harness.deployments.deployment import Deployment, Role
from harness.levers import Lever
from nemesis.fault import NODES, ONE_LEADER, Fault, Options
from nemesis.targets import Takes, Target
from nemesis.together import pull_all

# As long as all brokers hear the controller they agree on who leads.
_UNHEARD = MappingProxyType({Role.CONTROLLER: ONE_LEADER})
_ROLES = (*NODES, Role.CONTROL_PLANE, Role.OBJECT_STORE)


async def _cut(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    return await pull_all(
        on.levers.cut(one.sources, one.targets, both=one.both) for one in target.links
    )


async def _delay(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
    seconds = options["seconds"] * on.pace
    return await pull_all(
        on.levers.delay(one.sources, one.targets, seconds, both=one.both) for one in target.links
    )


FAULTS = (
    Fault(
        name="cut",
        roles=_ROLES,
        takes=Takes.LINKS,
        does="lets nothing pass; bytes wait until it heals or their sender gives up",
        levers=("cut",),
        landed=(("deliveries_held",),),
        shows="segments and connection attempts that did not get through",
        inject=_cut,
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
        shows="segments that came late",
        inject=_delay,
        suspends=_UNHEARD,
        options={"seconds": 0.3},
        targets=("leader of {partition} -> everything else",),
    ),
)
