"""Machines to measure with: one that asks a node something each step, and one that does nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from harness.deployments.sim import SimDeployment
from harness.history import read_history
from harness.steps.step import Step
from harness.steps.trial import Trial
from harness.steps.vocabulary import Drawn, Vocabulary, verb
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


class RegisterSteps(Vocabulary):
    """One client, one round trip a step."""

    actors = ("client",)

    def __init__(self, system: SimDeployment, connection: Connection) -> None:
        self._recorder = system.recorder
        self._connection = connection

    @verb(value=range(1, 10))
    async def write(self, step: Step, value: int) -> None:
        """Write a byte."""
        operation = self._recorder.invoke(step.actor, "write", {"value": value})
        await self._connection.send(bytes([value]))
        await self._connection.read_exactly(1)
        self._recorder.finish(operation, "ok", {"value": value})

    @verb()
    async def read(self, step: Step) -> None:
        """Read the byte."""
        operation = self._recorder.invoke(step.actor, "read", {"value": None})
        await self._connection.send(b"?")
        value = (await self._connection.read_exactly(1))[0]
        self._recorder.finish(operation, "ok", {"value": value})


class RegisterTrial(Trial):
    """A register, recorded and judged."""

    records_effects = False
    drawn: ClassVar[tuple[Drawn, ...]] = RegisterSteps.drawn()

    async def build(self) -> None:
        """One node, and a connection to it."""
        self.system.sim.add(HOME.host, register)
        await asyncio.sleep(0.01)
        self.connection = await self.system.network.connect(HOME)

    def vocabularies(self) -> Sequence[RegisterSteps]:
        """One."""
        return [RegisterSteps(self.system, self.connection)]

    def judge(self, folder: Path) -> Sequence[str]:
        """Linearizable, or not."""
        return search_events(read_history(folder / "history.jsonl").events, _MODEL)


class IdleMachine(RuleBasedStateMachine):
    """The steps alone: what Hypothesis itself costs."""

    @rule(value=st.integers(1, 9))
    def write(self, value: int) -> None:
        """Nothing."""

    @rule()
    def read(self) -> None:
        """Nothing."""
