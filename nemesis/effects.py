"""What can be done to one effect of a node, at its ports; in simulations."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from harness.deployments.deployment import Deployment, Role
from harness.levers import Lever
from harness.simulation.gate import Act
from nemesis.fault import NODES, ONE_LEADER, REPLICA_UP, Fault, Options
from nemesis.targets import Takes, Target
from nemesis.together import pull_all

if TYPE_CHECKING:
    from harness.deployments.sim import SimDeployment
    from harness.deployments.sim_levers import SimDeploymentLevers

_DOES = {
    Act.FAIL: "keeps one of its next effects from happening, and tells it so",
    Act.LOSE_REPLY: "lets one of its next effects happen and loses the reply",
    Act.KILL: "kills a node right before one of its next effects",
    Act.KILL_AFTER: "kills a node right after one of its next effects",
}


def _fault(act: Act) -> Fault:
    async def inject(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
        levers, done = cast("SimDeploymentLevers", on.levers), cast("SimDeployment", on).sim.effects
        return await pull_all(
            levers.at_effect(node, done.counts.get(node, 0) + options["ahead"], act)
            for node in target.nodes
        )

    return Fault(
        name=f"effect-{act.value}",
        roles=NODES,
        takes=Takes.NODES,
        does=_DOES[act],
        levers=("at_effect",),
        landed=(("orders_obeyed",),),
        shows="1 once the effect came",
        inject=inject,
        suspends=MappingProxyType({Role.BROKER: REPLICA_UP, Role.CONTROLLER: ONE_LEADER}),
        options={"ahead": 1},
        targets=("leader of {partition}", "follower of {partition}"),
    )


FAULTS = tuple(_fault(act) for act in Act)
