"""The arena of a simulation: the reference, virtual time, nodes and links that obey."""

from __future__ import annotations

from collections.abc import Callable

from conformance.classic.arena import Heal, NodeRow, Stalled, node_row, plan_of
from harness.deployments.plan import NodeState
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.history.recorder import Recorder
from harness.simulation.simulation import Simulation


class SimArena:
    """In a simulation; mutants are in force in this process already."""

    def __init__(self, sim: Simulation, recorder: Recorder) -> None:
        self.recorder = recorder
        self.network = sim.lab
        self._sim = sim
        self._cluster = SimulatedCluster(sim, plan_of())
        self.brokers = self._cluster.plan.broker_ids
        self.address = self._cluster.address
        self._cluster.settle()

    def now_ms(self) -> int:
        """Virtual time."""
        return self._sim.now_ms

    def nodes(self) -> list[NodeRow]:
        """See the protocol."""
        return nodes_of(self._sim)

    async def kill(self, name: str) -> Heal:
        """See the protocol."""
        return _healing(self._sim.faults.kill(name).heal)

    async def pause(self, name: str, stalled: Stalled) -> Heal:
        """See the protocol."""
        return _healing(self._sim.faults.pause(name).heal)

    async def cut(self, name: str, *, both: bool) -> Heal:
        """See the protocol."""
        others = [other for other in self._sim.nodes if other != name]
        return _healing(self._sim.faults.cut(name, others, both=both).heal)

    async def reimage(self, name: str) -> Heal:
        """See the protocol."""
        return _healing(self._sim.faults.reimage(name).heal)


def nodes_of(sim: Simulation) -> list[NodeRow]:
    """Every node as it is, and each that ended by itself once more."""
    running = {name: NodeState(running=node.up) for name, node in sim.nodes.items()}
    now = [node_row(name, state, on_purpose=not state.running) for name, state in running.items()]
    exits = [node_row(one, NodeState(running=False), on_purpose=False) for one in sim.exits]
    return now + exits


def _healing(heal: Callable[[], None]) -> Heal:
    async def healed() -> None:
        heal()

    return healed
