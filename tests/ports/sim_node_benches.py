"""The simulated disk and object store on the bench: as a node of a simulation sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation
from reference_impl.ports import Disk, ObjectStore, Ports
from tests.ports.disk_programs import PROGRAMS

Result = TypeVar("Result")

NODE = "node"
STEP_S = 0.001  # how long a node takes to acknowledge a step


class SimNodeBench:
    """One simulated node. It does nothing of its own; tests use its ports."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self._ports: Ports | None = None
        sim.add(NODE, self._lend_ports)
        sim.advance(STEP_S)

    @property
    def ports(self) -> Ports:
        """The ports of the present life of the node."""
        assert self._ports is not None
        return self._ports

    @property
    def disk(self) -> Disk:
        return self.ports.disk

    @property
    def store(self) -> ObjectStore:
        return self.ports.object_store

    def run(self, scenario: Callable[[], Awaitable[Result]]) -> Result:
        async def work() -> Result:
            return await scenario()

        return self.sim.run(work())

    def kill_during(self, program: str, *, after: int) -> int:
        """It dies in one of the next few effects, before or after it is carried out."""
        node, effects = self.sim.nodes[NODE], self.sim.effects
        chance = self.sim.chance("when to kill")
        acknowledged: list[int] = []

        async def acknowledge(step: int) -> None:
            acknowledged.append(step)
            if step == after:
                dies_at = effects.counts[NODE] + 1 + chance.randrange(8)
                effects.order(NODE, dies_at, chance.choice((Act.KILL, Act.KILL_AFTER)))
            await asyncio.sleep(STEP_S)

        async def write(ports: Ports) -> None:
            await PROGRAMS[program](ports.disk, acknowledge)

        self.sim.kill(NODE)
        node.program = write
        self.sim.start(NODE)
        self.sim.advance((after + 100) * STEP_S)
        assert not node.up
        node.program = self._lend_ports
        self.sim.start(NODE)
        self.sim.advance(STEP_S)
        return acknowledged[-1]

    async def _lend_ports(self, ports: Ports) -> None:
        self._ports = ports
        await asyncio.Event().wait()


@contextmanager
def sim_node(seed: int = 1) -> Iterator[SimNodeBench]:
    with Simulation(seed) as sim:
        yield SimNodeBench(sim)


@contextmanager
def small_sim_disk(capacity: int) -> Iterator[SimNodeBench]:
    with sim_node() as bench:
        bench.sim.nodes[NODE].disk.capacity = capacity
        yield bench
