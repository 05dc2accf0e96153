"""What a system offers to the campaign, and what cannot be seen of one that offers less.

The lab starts the built-in systems itself, so every fault is possible there, but for the links
between containers, which are not cut yet. Of any other it knows an address; its brokers can be
killed, paused and emptied if it has a hook `process`. Its links cannot be cut, and which node is
its controller is not known.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.classic.campaign import CLASSIC, FAULTS, part_name
from harness.history.plan import Part
from harness.sut import Sut

PROCESS = "process"
# One of them twice, so that in any order some leader epoch is spared both a kill and an emptied
# disk: KFK-049 is judged in such epochs only.
BY_HOOK = ("pause-leader", "kill-leader", "reimage-follower", "pause-leader")
IN_CONTAINERS = (*BY_HOOK, "kill-controller")
REPLICAS = 3  # with fewer a cluster is not expected to survive any of them

# Without these a cluster is not certified: whoever runs one has them sooner or later.
PROMISED = frozenset(BY_HOOK)
# One that does not land is reported, and voids nothing: others have shown the same already.
OPTIONAL = frozenset({"silence-leader", "kill-controller"})
# Rules about what follows a change of leader, and the faults that bring one about.
OF_NEW_LEADERS = ("KFK-070", "KFK-073")
NEW_LEADER = ("pause-leader", "kill-leader", "cut-off-leader", "silence-leader")
# Nodes that the lab watches because it started them, and the rule about how they end.
NODES = "nodes"
OF_NODES = ("KFK-095",)


def planned_parts() -> tuple[Part, ...]:
    """The faults of the campaign as parts of a plan, and the look at nodes."""
    nodes = Part(name=part_name(NODES), profile=CLASSIC, rules=OF_NODES)
    return nodes, *(
        Part(
            name=part_name(fault),
            profile=CLASSIC,
            rules=OF_NEW_LEADERS if fault in NEW_LEADER else (),
            faults=(strike.fault,),
            required=fault not in OPTIONAL,
            promised=fault in PROMISED,
            scope="profile",
        )
        for fault, strike in FAULTS.items()
    )


def faults_offered(sut: Sut, world: str, brokers: Iterable[int]) -> tuple[str, ...]:
    """The faults that a system with these brokers can be made to suffer."""
    if world == "docker":
        return IN_CONTAINERS
    if sut.adapter.started:
        return tuple(FAULTS)
    hurt = PROCESS in sut.hooks and len(tuple(brokers)) >= REPLICAS
    return BY_HOOK if hurt else ()


def not_offered(sut: Sut, world: str, brokers: Iterable[int]) -> dict[str, str]:
    """What cannot be done to a system with these brokers, or seen of it, with the reason."""
    brokers = tuple(brokers)
    offered = faults_offered(sut, world, brokers)
    reasons = {one: _why_not(one, sut, world, brokers) for one in FAULTS if one not in offered}
    if not sut.adapter.started:
        reasons[NODES] = "the lab has not started its nodes, and cannot see them end"
    return reasons


def _why_not(fault: str, sut: Sut, world: str, brokers: tuple[int, ...]) -> str:
    if world == "docker":
        return "links between containers are not cut yet"
    if PROCESS not in sut.hooks:
        return "it has no hook process"
    if len(brokers) < REPLICAS:
        return f"it has fewer than {REPLICAS} brokers"
    if fault == "kill-controller":
        return "which node is its controller is not known"
    return "its links cannot be cut from outside"
