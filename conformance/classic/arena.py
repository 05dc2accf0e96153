"""Where a campaign plays: a cluster, a way to reach it, and things that can befall it.

The campaign itself is one coroutine and does not know where it runs: on the loop of a simulation
with virtual time, or on a real one against processes. What it asks of either is this protocol.
Faults are named and recorded as `nemesis/cluster_faults.py` says; each returns what ends it.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from harness.clusters.link_proxy import LinkProxy
from harness.clusters.plan import CONTROLLER, ClusterPlan, broker_id, broker_name
from harness.clusters.processes import ProcessCluster
from harness.clusters.simulated import SimulatedCluster
from harness.history import Run
from harness.simulation.simulation import Simulation
from harness.worlds.place import take_place
from harness.worlds.recorder import Evidence, Recorder
from reference_impl.live.network import StreamNetwork
from reference_impl.ports import Address, Network

Heal = Callable[[], Awaitable[None]]
Stalled = Callable[[int], int]  # requests that a broker has not answered

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
    """A cluster of three brokers and what the nemesis can do to it."""

    recorder: Recorder
    network: Network

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

    async def reimage(self, name: str) -> Heal:
        """End a node and empty its disk."""
        ...


def plan_of(mutants: tuple[str, ...]) -> ClusterPlan:
    """The cluster that the campaign plays on."""
    return ClusterPlan(brokers=3, racks=("a", "b", "c"), properties=PROPERTIES, mutants=mutants)


class SimArena:
    """In a simulation; mutants are in force in this process already."""

    def __init__(self, sim: Simulation, recorder: Recorder) -> None:
        self.recorder = recorder
        self.network = sim.lab
        self._sim = sim
        self._cluster = SimulatedCluster(sim, plan_of(()))
        self.address = self._cluster.address
        self._cluster.settle()

    def now_ms(self) -> int:
        """Virtual time."""
        return self._sim.now_ns // 1_000_000

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


def _healing(heal: Callable[[], None]) -> Heal:
    async def healed() -> None:
        heal()

    return healed


class ProcessArena:
    """Real processes, real sockets, real signals."""

    def __init__(self, run: Run, folder: Path, mutants: tuple[str, ...]) -> None:
        place = take_place(run, world="process", clock="host", part=0, shard=SHARD)
        self.writer = place.writer
        self.recorder = Recorder(place, now=time.monotonic_ns, lock=threading.RLock())
        self.network: Network = StreamNetwork()
        plan = plan_of(mutants)
        self._links = LinkProxy(plan)
        self.cluster = ProcessCluster(folder, plan, links=self._links)

    def __enter__(self) -> ProcessArena:
        try:
            self.cluster.__enter__()
        except BaseException:
            self._links.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.cluster.kill_all()
        self._links.close()

    def address(self, broker: int) -> Address:
        """Through the proxy, as everybody."""
        host, _, port = self.cluster.address(broker_name(broker)).rpartition(":")
        return Address(host, int(port))

    def now_ms(self) -> int:
        """The time of day."""
        return time.time_ns() // 1_000_000

    async def kill(self, name: str) -> Heal:
        """See the protocol."""
        return await self._down("kill-node", name, lambda: None)

    async def reimage(self, name: str) -> Heal:
        """See the protocol."""
        folder = self.cluster.folder / name
        return await self._down("reimage-node", name, lambda: shutil.rmtree(folder))

    async def _down(self, fault: str, name: str, then: Callable[[], None]) -> Heal:
        begun = self.recorder.begin_fault(fault, name)
        await asyncio.to_thread(self.cluster.kill, name)
        await asyncio.to_thread(then)
        self.recorder.landed(begun, {"tasks_ended": 1})

        async def heal() -> None:
            self.recorder.end_fault(begun, {})
            self.cluster.start(name)
            await asyncio.to_thread(self.cluster.wait, name)

        return heal

    async def pause(self, name: str, stalled: Stalled) -> Heal:
        """See the protocol."""
        begun = self.recorder.begin_fault("pause-node", name)
        broker = broker_id(name)
        before = stalled(broker)
        self.cluster.pause(name)

        async def heal() -> None:
            number = stalled(broker) - before
            if number > 0:
                self.recorder.landed(begun, {"callbacks_stalled": number})
            self.recorder.end_fault(begun, {})
            self.cluster.resume(name)

        return heal

    async def cut(self, name: str, *, both: bool) -> Heal:
        """See the protocol."""
        begun = self.recorder.begin_fault("cut-link", name)
        others = [other for other in (CONTROLLER, *self.cluster.plan.names) if other != name]
        made = self._links.cut(name, others, both=both)

        async def heal() -> None:
            evidence: Evidence = made.evidence
            if evidence["deliveries_held"]:
                self.recorder.landed(begun, evidence)
            self.recorder.end_fault(begun, evidence)
            self._links.heal(made)

        return heal
