"""What can be done to the disk of a node; in simulations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from harness.deployments.deployment import Deployment, Role
from harness.levers import Lever
from nemesis.fault import REPLICA_UP, Fault, Inject, Options
from nemesis.targets import Takes, Target

if TYPE_CHECKING:
    from harness.deployments.sim_levers import SimDeploymentLevers
from nemesis.together import pull_all

_ROLES = (Role.BROKER, Role.CONTROLLER)
# A broker whose disk fails may end itself, and begins again at its checkpoints.
_MAY_END = MappingProxyType({Role.BROKER: REPLICA_UP})
_TARGETS = ("leader of {partition}", "follower of {partition}")

Pull = Callable[["SimDeploymentLevers", str, Options], Awaitable[Lever]]


def on_each(pull: Pull) -> Inject:
    """A fault that pulls a lever of a simulation for every node."""

    async def inject(on: Deployment, target: Target, options: Options) -> Sequence[Lever]:
        levers = cast("SimDeploymentLevers", on.levers)
        return await pull_all(pull(levers, node, options) for node in target.nodes)

    return inject


FAULTS = (
    Fault(
        name="disk-full",
        roles=_ROLES,
        takes=Takes.NODES,
        does="leaves no room; a write that does not fit writes what fits",
        levers=("disk_full",),
        landed=(("writes_without_room",),),
        shows="writes that did not fit",
        inject=on_each(lambda levers, node, _: levers.disk_full(node)),
        suspends=_MAY_END,
        targets=_TARGETS,
    ),
    Fault(
        name="disk-slow",
        roles=_ROLES,
        takes=Takes.NODES,
        does="makes every change of the disk take longer",
        levers=("disk_slow",),
        landed=(("calls_delayed",),),
        shows="changes that took longer",
        inject=on_each(lambda levers, node, o: levers.disk_slow(node, o["seconds"])),
        options={"seconds": 0.05},
        targets=_TARGETS,
    ),
    Fault(
        name="disk-failing",
        roles=_ROLES,
        takes=Takes.NODES,
        does="answers every change of the disk with an error and does nothing",
        levers=("disk_failing",),
        landed=(("calls_failed",),),
        shows="changes that failed",
        inject=on_each(lambda levers, node, _: levers.disk_failing(node)),
        suspends=_MAY_END,
        targets=_TARGETS,
    ),
    Fault(
        name="sync-failing",
        roles=_ROLES,
        takes=Takes.NODES,
        does="lets syncs fail, and never syncs what they should have",
        levers=("sync_failing",),
        landed=(("syncs_failed",),),
        shows="syncs that failed",
        inject=on_each(lambda levers, node, _: levers.sync_failing(node)),
        suspends=_MAY_END,
        targets=_TARGETS,
    ),
)
