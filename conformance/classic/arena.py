"""Where a campaign plays: a cluster, a way to reach it, and things that can befall it.

The campaign itself is one coroutine and does not know where it runs: on the loop of a simulation
with virtual time, or on a real one against processes. What it asks of either is this protocol.
Faults are named and recorded as `nemesis/cluster_faults.py` says; each returns what ends it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from harness.deployments.plan import DeploymentPlan, NodeState
from harness.history.recorder import Recorder
from reference_impl.ports import Address, Network

Heal = Callable[[], Awaitable[None]]
Stalled = Callable[[int], int]  # requests that a broker has not answered
NodeRow = dict[str, object]

PROPERTIES = {
    "broker.session.timeout.ms": "1500",
    "broker.heartbeat.interval.ms": "300",
    "replica.lag.time.max.ms": "1200",
    "replica.fetch.wait.max.ms": "200",
    "replica.fetch.backoff.ms": "100",
    "replica.socket.timeout.ms": "1500",
}
SHARD = "classic"


class Arena(Protocol):
    """A cluster and what the nemesis can do to it."""

    recorder: Recorder
    network: Network
    brokers: tuple[int, ...]

    def address(self, broker: int) -> Address:
        """Where clients find a broker."""
        ...

    def now_ms(self) -> int:
        """The time that records are stamped with."""
        ...

    async def kill(self, name: str) -> Heal:
        """End a node at once; healed, it starts again."""
        ...

    async def pause(self, name: str, stalled: Stalled) -> Heal:
        """Let a broker stand still."""
        ...

    async def cut(self, name: str, *, both: bool) -> Heal:
        """Cut a node off from other nodes, both ways or only from it; clients still reach it."""
        ...

    def nodes(self) -> list[NodeRow]:
        """Which nodes run and which have ended, as a probe records it; nothing if that cannot be
        seen."""
        ...

    async def reimage(self, name: str) -> Heal:
        """End a node and empty its disk."""
        ...


def node_row(name: str, state: NodeState, *, on_purpose: bool) -> NodeRow:
    """A node as a probe records it."""
    ended = "running" if state.running else "ended"
    return {"node": name, "state": ended, "exit_code": state.exit_code, "on_purpose": on_purpose}


def plan_of(mutants: tuple[str, ...] = ()) -> DeploymentPlan:
    """The cluster that the campaign plays on, where the lab starts it."""
    return DeploymentPlan(brokers=3, racks=("a", "b", "c"), properties=PROPERTIES, mutants=mutants)
