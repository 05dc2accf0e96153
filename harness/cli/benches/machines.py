"""Machines to measure with: one that asks a node something each step, and one that does nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from harness.history import read_history
from harness.history.outcome import Outcome, done
from harness.steps.machine import SimulatedMachine, step
from reference_impl.ports import Address, Connection, Ports
from spark_checkers.linearizability import model_named, search_events

HOME = Address("n1", 1)
_MODEL = model_named("register", initial=0)


async def register(ports: Ports) -> None:
    """One byte that can be read and written."""
    value = b"\0"

    async def serve(connection: Connection) -> None:
        nonlocal value
        while True:
            asked = await connection.read_exactly(1)
            value = value if asked == b"?" else asked
            await connection.send(value)

    await ports.network.listen(HOME, serve)
    await asyncio.Event().wait()


class RegisterMachine(SimulatedMachine):
    """One client, one register, one round trip a step; recorded and judged."""

    settle_s = 0.0
    records_effects = False

    def build(self) -> None:
        """One node, and a connection to it."""
        self.sim.add(HOME.host, register)
        self.sim.advance(0.01)
        self.connection = self.sim.run(self.sim.lab.connect(HOME))

    @step(value=range(1, 10))
    def write(self, value: int) -> None:
        """A byte is written."""

        async def write() -> Outcome:
            await self.connection.send(bytes([value]))
            await self.connection.read_exactly(1)
            return done(value=value)

        self.sim.run(_ended(self.begin("client", "write", write, value=value)))

    @step()
    def read(self) -> None:
        """The byte is read."""

        async def read() -> Outcome:
            await self.connection.send(b"?")
            return done(value=(await self.connection.read_exactly(1))[0])

        self.sim.run(_ended(self.begin("client", "read", read, value=None)))

    def judge(self, folder: Path) -> Sequence[str]:
        """Linearizable, or not."""
        return search_events(read_history(folder / "history.jsonl").events, _MODEL)


async def _ended(task: asyncio.Task[None]) -> None:
    await task


class IdleMachine(RuleBasedStateMachine):
    """The steps alone: what Hypothesis itself costs."""

    @rule(value=st.integers(1, 9))
    def write(self, value: int) -> None:
        """Nothing."""

    @rule()
    def read(self) -> None:
        """Nothing."""
