"""A node that counts on its disk, a decision it can get wrong, and a machine that drives it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from harness.history import read_history
from harness.history.outcome import Outcome, done
from harness.steps.machine import SimulatedMachine, step
from reference_impl.decisions import Mutant, decision
from reference_impl.ports import Address, Connection, Ports

CLIENTS = ("a", "b")


@decision("counter-syncs", rules=())
def syncs() -> bool:
    """A count is synced before it is answered."""
    return True


MUTANTS = (Mutant(name="count without sync", decision="counter-syncs", replace=lambda: False),)


async def counter(ports: Ports) -> None:
    """One byte on disk for everyone who asked."""
    file = await ports.disk.open("count")
    await ports.disk.sync_directory()

    async def serve(connection: Connection) -> None:
        while True:
            await connection.read_exactly(1)
            await file.append(b"+")
            if syncs():
                await file.sync()
            await connection.send(bytes([await file.size()]))

    await ports.network.listen(Address(ports.name, 1), serve)
    await asyncio.Event().wait()


class CounterMachine(SimulatedMachine):
    """Clients count; the machine may lose power; no answer may be given twice."""

    def build(self) -> None:
        """One node."""
        self.sim.add("n1", counter)
        self.sim.advance(0.1)

    @step(client=CLIENTS)
    def count(self, client: str) -> None:
        """Somebody counts."""
        if self.idle(client):
            self.begin(client, "count", self._count)

    @step(milliseconds=range(1, 51))
    def pass_time(self, milliseconds: int) -> None:
        """Time passes."""
        self.sim.advance(milliseconds / 1000)

    @step()
    def lose_power(self) -> None:
        """The machine goes dark and comes back."""
        self.sim.faults.lose_power("n1", lose="all").heal()

    @step(number=(13,))
    def stumble(self, number: int) -> None:
        """A step may be allowed or not."""
        if self.stumbles:
            raise LookupError(f"unlucky {number}")

    stumbles = False

    def judge(self, folder: Path) -> Sequence[str]:
        """Every answer is given once."""
        told = [
            event["value"]
            for event in read_history(folder / "history.jsonl").events
            if event["kind"] == "op" and event["type"] == "ok"
        ]
        twice = sorted({number for number in told if told.count(number) > 1})
        return [f"answered twice: {number}" for number in twice]

    async def _count(self) -> Outcome:
        async with asyncio.timeout(1):
            connection = await self.sim.lab.connect(Address("n1", 1))
            await connection.send(b"?")
            answer = await connection.read_exactly(1)
            await connection.close()
        return done(value=answer[0])


class StumblingMachine(CounterMachine):
    """One of whose steps raises."""

    stumbles = True
