"""A node that counts on its disk, a decision it can get wrong, and a trial that drives it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from harness.deployments.sim import SimDeployment
from harness.history import read_history
from harness.history.outcome import done, unknown
from harness.history.recorder import Operation
from harness.steps.step import Step
from harness.steps.trial import Trial
from harness.steps.vocabulary import Drawn, Vocabulary, verb
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


class Counting(Vocabulary):
    """Clients count one at a time each; the machine may lose power."""

    def __init__(self, system: SimDeployment, *, stumbles: bool) -> None:
        self._system = system
        self._stumbles = stumbles
        self._busy: list[str] = []

    @verb()
    async def count(self, step: Step) -> None:
        """A client counts, and goes on with it while others do."""
        if step.actor not in self._busy:
            self._busy.append(step.actor)
            operation = self._system.recorder.invoke(step.actor, "count", {})
            self._system.sim.spawn(self._count(operation))

    @verb(milliseconds=range(1, 51))
    async def wait(self, step: Step, milliseconds: int) -> None:
        """Time passes."""
        await asyncio.sleep(milliseconds / 1000)

    @verb()
    async def lose_power(self, step: Step) -> None:
        """The machine goes dark and comes back."""
        self._system.sim.levers.lose_power("n1", lose="all").release()

    @verb(number=(13,))
    async def stumble(self, step: Step, number: int) -> None:
        """A step may be allowed or not."""
        if self._stumbles:
            raise LookupError(f"unlucky {number}")

    async def _count(self, operation: Operation) -> None:
        outcome = unknown(error="lost")
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                connection = await self._system.network.connect(Address("n1", 1))
                await connection.send(b"?")
                answer = await connection.read_exactly(1)
                await connection.close()
                outcome = done(value=answer[0])
        self._system.recorder.finish(operation, outcome.type, outcome.fields)
        self._busy.remove(operation.client)


class CounterTrial(Trial):
    """No answer may be given twice."""

    stumbles: ClassVar[bool] = False
    drawn: ClassVar[tuple[Drawn, ...]] = Counting.drawn(*CLIENTS)

    async def build(self) -> None:
        """One node."""
        self.system.sim.add("n1", counter)
        await asyncio.sleep(0.1)

    def vocabularies(self) -> Sequence[Counting]:
        """One."""
        return [Counting(self.system, stumbles=self.stumbles)]

    async def finish(self) -> None:
        """All have their answers, or give up."""
        await asyncio.sleep(30)

    def judge(self, folder: Path) -> Sequence[str]:
        """Every answer is given once."""
        told = [
            event["value"]
            for event in read_history(folder / "history.jsonl").events
            if event["kind"] == "op" and event["type"] == "ok"
        ]
        twice = sorted({number for number in told if told.count(number) > 1})
        return [f"answered twice: {number}" for number in twice]


class StumblingTrial(CounterTrial):
    """One of whose steps raises."""

    stumbles = True
