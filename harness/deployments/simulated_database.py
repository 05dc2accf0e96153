"""The database behind the control planes of a simulation: in memory, or a real PostgreSQL.

PostgreSQL answers in real time, on a real event loop. So each transaction is carried out aside, on
a private loop, while simulated time stands still: to the simulation it is as atomic as in memory.
Whatever else happens to it (delays, refusals, lost replies, being held) is the simulated gate's
affair and the same as in memory. Each life of a node has a connection of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from harness.errors import LabBroken
from harness.simulation.bell import Bell
from harness.simulation.lever import SimLever
from harness.simulation.observer import Observer
from harness.simulation.simulation import Simulation
from reference_impl.decisions import SqlMutant
from reference_impl.ports import ControlPlane
from reference_impl.ports.control_plane import Answer
from reference_impl.ports.effects import Effect, Gate, Result

if TYPE_CHECKING:
    from harness.processes.database import Database, Log, Row
    from reference_impl.control_plane.postgres import PostgresControlPlane

PORT = "control_plane"


class SimulatedDatabase(Protocol):
    """The lab's own way to the database."""

    def fail(self) -> SimLever:
        """Answer every call with a hard error."""
        ...

    def probe(self) -> list[Row]:
        """All rows, from the database itself."""
        ...

    def upgrade(self, logs: Sequence[Log]) -> None:
        """Logs under the old schema, then the rest of the migrations."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class MemoryDatabase:
    """The registers that the nodes of a simulation share; they cannot break, so gates play it."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim

    def fail(self) -> SimLever:
        """Whatever gets here is answered with a hard error."""
        return self._sim.levers.fail(PORT)

    def probe(self) -> list[Row]:
        """The objects themselves, not what a call says about them."""
        return self._sim.registers.rows()

    def upgrade(self, logs: Sequence[Log]) -> None:
        """Memory has no schema."""
        raise LabBroken("the in-memory control plane has no schema to upgrade")

    def close(self) -> None:
        """Nothing to let go of."""


class PostgresDatabase:
    """A fresh database, and the connections of a simulation to it."""

    def __init__(self, sim: Simulation, database: Database) -> None:
        self._simulated = sim.loop
        self._real = asyncio.new_event_loop()
        self._database = database
        self._planes: list[PostgresControlPlane] = []
        self._errors_answered = 0
        self._bell = Bell()

    def control_plane(self, gate: Gate) -> ControlPlane:
        """The port of one life of a node; it connects at the first call."""
        # Here and not above: a simulation in memory starts without a database driver.
        from reference_impl.control_plane.postgres import PostgresControlPlane

        plane = PostgresControlPlane(self._database.dsn, gate=_Aside(gate, self))
        self._planes.append(plane)
        return plane

    async def carry_out(self, effect: Effect[Result]) -> Result:
        """In real time, and in no simulated time."""
        with self._simulated.aside():
            result = self._real.run_until_complete(_awaited(effect))
        if isinstance(result, Answer) and not all(one.error.definite for one in result.partitions):
            self._errors_answered += 1
            self._bell.ring()
        return result

    def fail(self) -> SimLever:
        """The schema really goes away, and comes back."""
        before = self._errors_answered
        self._database.hide(True)
        return SimLever(
            lambda: {"errors_answered": self._errors_answered - before},
            lambda: self._database.hide(False),
            self._bell,
        )

    def probe(self) -> list[Row]:
        """The tables themselves."""
        return self._database.probe()

    def upgrade(self, logs: Sequence[Log]) -> None:
        """In the database."""
        self._database.upgrade(logs)

    def close(self) -> None:
        """Connections, loop and database."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._database.close)
            stack.callback(self._real.close)
            for plane in self._planes:
                self._real.run_until_complete(plane.close())


class _Aside:
    """A simulated gate behind which effects are carried out on the real loop."""

    def __init__(self, gate: Gate, database: PostgresDatabase) -> None:
        self._gate = gate
        self._database = database

    async def run(self, effect: Effect[Result]) -> Result:
        """Through the gate, and aside from there."""
        return await self._gate.run(replace(effect, do=lambda: self._database.carry_out(effect)))


async def _awaited(effect: Effect[Result]) -> Result:
    return await effect.do()


def simulate(
    seed: int,
    *,
    observer: Observer,
    forgiving: bool = False,
    postgres: bool = False,
    schema_upto: int | None = None,
    mutants: Sequence[SqlMutant] = (),
) -> tuple[Simulation, SimulatedDatabase]:
    """A simulation whose control planes share a database."""
    if not postgres:
        sim = Simulation(seed, observer=observer, forgiving=forgiving)
        return sim, MemoryDatabase(sim)
    from harness.processes.database import Database

    real = Database(schema_upto=schema_upto, mutants=mutants)
    sim = Simulation(
        seed,
        observer=observer,
        forgiving=forgiving,
        control_plane=lambda node, gate: database.control_plane(gate),
    )
    database = PostgresDatabase(sim, real)
    return sim, database
