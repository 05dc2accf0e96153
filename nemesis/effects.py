"""What can be done to one effect of a node, at its ports; in simulations."""

from __future__ import annotations

from types import MappingProxyType

from harness.deployments.deployment import Role
from harness.simulation.gate import Act
from nemesis.fault import NODES, ONE_LEADER, REPLICA_UP, Fault, State
from nemesis.pulling import on_each_node
from nemesis.targets import Takes

_DOES = {
    Act.FAIL: "keeps one of its next effects from happening, and tells it so",
    Act.LOSE_REPLY: "lets one of its next effects happen and loses the reply",
    Act.KILL: "kills a node right before one of its next effects",
    Act.KILL_AFTER: "kills a node right after one of its next effects",
}


def _fault(act: Act) -> Fault:
    return Fault(
        name=f"effect-{act.value}",
        roles=NODES,
        takes=Takes.NODES,
        does=_DOES[act],
        levers=("at_effect",),
        landed=(("orders_obeyed",),),
        inject=on_each_node(lambda levers, node, o: levers.at_effect(node, o["ahead"], act)),
        suspends=MappingProxyType({Role.BROKER: REPLICA_UP, Role.CONTROLLER: ONE_LEADER}),
        state=State.DOWN if act in (Act.KILL, Act.KILL_AFTER) else State.RUNNING,
        later=True,
        options={"ahead": 1},
        targets=("leader of {partition}", "follower of {partition}"),
    )


FAULTS = tuple(_fault(act) for act in Act)
