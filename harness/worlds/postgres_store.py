"""The control planes of a simulation on a real PostgreSQL.

A database answers in real time, on a real event loop. So each transaction is carried out aside, on
a private loop, while simulated time stands still: to the simulation it is as atomic as in memory.
Whatever else befalls it (delays, refusals, lost replies, being held) is the simulated gate's affair
and the same as in memory. Each life of a node has a connection of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace

from harness.processes.database import Database, Log, Row
from harness.simulation.loop import SimLoop
from harness.steps.order import ALL_VERBS
from reference_impl.control_plane.port import Reply
from reference_impl.control_plane.postgres import PostgresControlPlane
from reference_impl.ports.effects import Effect, Gate, Result


class PostgresStore:
    """A fresh database, and the connections of a simulation to it."""

    verbs = ALL_VERBS

    def __init__(self, loop: SimLoop, database: Database) -> None:
        self.errors_answered = 0
        self._simulated = loop
        self._real = asyncio.new_event_loop()
        self._database = database
        self._planes: list[PostgresControlPlane] = []

    def control_plane(self, gate: Gate) -> PostgresControlPlane:
        """The port of one life of a node; it connects at the first call."""
        plane = PostgresControlPlane(self._database.dsn, gate=_Aside(gate, self))
        self._planes.append(plane)
        return plane

    async def carry_out(self, effect: Effect[Result]) -> Result:
        """In real time, and in no simulated time."""
        with self._simulated.aside():
            result = self._real.run_until_complete(_awaited(effect))
        if isinstance(result, Reply) and not result.error.definite:
            self.errors_answered += 1
        return result

    def break_down(self) -> None:
        """The schema really goes away."""
        self.errors_answered = 0
        self._database.hide(True)

    def mend(self) -> None:
        """It comes back."""
        self._database.hide(False)

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

    def __init__(self, gate: Gate, store: PostgresStore) -> None:
        self._gate = gate
        self._store = store

    async def run(self, effect: Effect[Result]) -> Result:
        """Through the gate, and aside from there."""
        return await self._gate.run(replace(effect, do=lambda: self._store.carry_out(effect)))


async def _awaited(effect: Effect[Result]) -> Result:
    return await effect.do()
