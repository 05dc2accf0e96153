"""What a system offers to the campaign, and what cannot be seen of one that offers less.

The lab starts the built-in systems itself, so every fault is possible there, but for the links
between containers, which are not cut yet. Of any other it knows
an address; its brokers can be hurt if it has a hook `process`. Nobody else's links can be cut, and
who its controller is, if it has one, is its own affair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.classic.campaign import FAULTS
from harness.sut import Sut

PROCESS = "process"
# One of them twice, so that in any order some leader epoch is spared both a kill and an emptied
# disk: KFK-049 is judged in such epochs only.
BY_HOOK = ("pause-leader", "kill-leader", "reimage-follower", "pause-leader")
IN_CONTAINERS = (*BY_HOOK, "kill-controller")
REPLICAS = 3  # with fewer a cluster is not expected to survive any of them

# Rules about what follows a change of leader, and the faults that bring one about.
NEW_LEADER = ("pause-leader", "kill-leader", "cut-off-leader", "silence-leader")
NEEDS: Mapping[str, tuple[str, ...]] = {"KFK-070": NEW_LEADER, "KFK-073": NEW_LEADER}
# Of nodes that the lab did not start it cannot see how they end.
OWN_CONTROLLER = "kill-controller"
UNSEEN_OUTSIDE = {"KFK-095": "the lab has not started its nodes, and cannot see them end"}


def faults_offered(sut: Sut, world: str, brokers: Iterable[int]) -> tuple[str, ...]:
    """The faults that can befall a system with these brokers."""
    if world == "docker":
        return IN_CONTAINERS
    if sut.startable:
        return FAULTS
    hurt = PROCESS in sut.hooks and len(tuple(brokers)) >= REPLICAS
    return BY_HOOK if hurt else ()


def unseen_without(faults: Iterable[str]) -> dict[str, str]:
    """Rules that nothing exercises if only these faults befall a system, with the reason."""
    offered = frozenset(faults)
    outside = {} if OWN_CONTROLLER in offered else UNSEEN_OUTSIDE
    return outside | {
        rule: "its leader cannot be made to change without a hook process and three brokers"
        for rule, any_of in NEEDS.items()
        if not offered.intersection(any_of)
    }
