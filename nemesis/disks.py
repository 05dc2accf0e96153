"""What can be done to the disk of a node: in simulations, and a full one in containers."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

from harness.deployments.deployment import Role
from nemesis.fault import REPLICA_UP, Fault
from nemesis.pulling import on_each_node
from nemesis.targets import Takes

# A broker whose disk fails may end itself, and begins again at its checkpoints.
_MAY_END = MappingProxyType({Role.BROKER: REPLICA_UP})
_fault = partial(
    Fault,
    roles=(Role.BROKER, Role.CONTROLLER),
    takes=Takes.NODES,
    targets=("leader of {partition}", "follower of {partition}"),
)

FAULTS = (
    _fault(
        name="disk-full",
        does="leaves no room; a write that does not fit writes what fits",
        levers=("disk_full",),
        landed=(("writes_without_room", "bytes_until_full"),),
        inject=on_each_node(lambda levers, node, _: levers.disk_full(node)),
        suspends=_MAY_END,
    ),
    _fault(
        name="disk-slow",
        does="makes every change of the disk take longer",
        levers=("disk_slow",),
        landed=(("calls_delayed",),),
        inject=on_each_node(lambda levers, node, o: levers.disk_slow(node, o["seconds"])),
        options={"seconds": 0.05},
    ),
    _fault(
        name="disk-failing",
        does="answers every change of the disk with an error and does nothing",
        levers=("disk_failing",),
        landed=(("calls_failed",),),
        inject=on_each_node(lambda levers, node, _: levers.disk_failing(node)),
        suspends=_MAY_END,
    ),
    _fault(
        name="sync-failing",
        does="lets syncs fail, and never syncs what they should have",
        levers=("sync_failing",),
        landed=(("syncs_failed",),),
        inject=on_each_node(lambda levers, node, _: levers.sync_failing(node)),
        suspends=_MAY_END,
    ),
)
