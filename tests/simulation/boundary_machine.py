"""The boundary register driven by several brokers under a nemesis, judged by the rules.

Three simulated brokers share one control plane. Each answers the calls of its client over the
network and asks its own control-plane port, as a broker does that migrates a partition. Steps begin
calls, let time pass, and do things to brokers, links and the database; the history is judged by
every rule of the migration.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from conformance.catalogue import CATALOGUE
from harness.errors import LabBroken
from harness.history.outcome import Outcome
from harness.history.recorder import ending
from harness.rules import Catalogue, Judgement, Verdict
from harness.simulation.gate import Act
from harness.steps.machine import step
from harness.steps.nemesis_steps import SO_LONG, NemesisSteps
from harness.sut.calls import SEEDS
from harness.sut.protocol import Answer, question
from reference_impl.control_plane.agent import answer
from reference_impl.ports import Address, Connection, Ports
from spark_checkers.engine import InlineEngine
from spark_checkers.judge_history import judge_run

BROKERS = ("broker-1", "broker-2", "broker-3")
PARTITIONS = (0, 1)
TOPIC = "t"
PORT = 9092
DATABASE = "control_plane"
PATIENCE_S = 0.05  # of a client

# What calls may be about, simplest first.
A_PARTITION = (0, 0, 1)  # mostly the same
BOUNDARIES = (100, 200, 0)
EPOCHS = (1, 2, 3)
EPOCHS_OR_NONE = (*EPOCHS, None)
SOME_SEEDS = ("none", "A", "C")
DATABASE_FAULTS = (
    ("refused", {}),
    ("broken", {}),
    ("replies_lost", {"times": 1}),
    ("conflicts", {"times": 2}),
    ("slow", {"seconds": PATIENCE_S / 5}),
    ("slow", {"seconds": 2 * PATIENCE_S}),
)
A_WHILE = (10, 0, 1)  # milliseconds, after a step was taken


async def broker(ports: Ports) -> None:
    """Answer calls, one after the other on each connection."""

    async def serve(connection: Connection) -> None:
        with suppress(OSError):
            while True:
                told = await answer(ports.control_plane, await read_line(connection))
                await connection.send(json.dumps(told).encode() + b"\n")

    await ports.network.listen(Address(ports.name, PORT), serve)
    await asyncio.get_running_loop().create_future()


async def read_line(connection: Connection) -> bytes:
    """The only line that is under way."""
    line = b""
    while not line.endswith(b"\n"):
        line += await connection.read_some(4096)
    return line


@functools.cache
def engine() -> InlineEngine:
    """One for the whole process: opening one costs more than a question to it."""
    return InlineEngine()


class BoundaryMachine(NemesisSteps):
    """Three brokers with a client each, and the logs of two partitions."""

    settle_s = 1.0
    profiles = ("migration",)
    judged_by: ClassVar[Catalogue] = CATALOGUE.of_profiles(profiles).judged()

    # Brokers do not talk to each other here, and keep nothing on disk or in memory.
    black_out = isolate = delay = slow_disk = break_disk = None

    def build(self) -> None:
        """Brokers that listen, and logs that exist."""
        for name in BROKERS:
            self.recorder.node(name)  # numbered as their nodes are
            self.sim.add(name, broker)
        for name, partition in zip(BROKERS, PARTITIONS, strict=False):
            self._call("create_log", name, partition, ms=0)
        self.sim.run_until(lambda: not self.open)

    # What clients ask of their brokers.

    @step(
        broker=BROKERS,
        partition=A_PARTITION,
        boundary=BOUNDARIES,
        epoch=EPOCHS,
        seeds=SOME_SEEDS,
        ms=A_WHILE,
    )
    def initialize(
        self, broker: str, partition: int, boundary: int, epoch: int, seeds: str, ms: int
    ) -> None:
        """A leader proposes a boundary, with seeds."""
        self._call(
            "initialize_diskless_migration",
            broker,
            partition,
            ms,
            boundary=boundary,
            leader_epoch=epoch,
            entries=SEEDS[seeds],
        )

    @step(
        broker=BROKERS,
        partition=A_PARTITION,
        boundary=BOUNDARIES,
        epoch=EPOCHS_OR_NONE,
        ms=A_WHILE,
    )
    def set(self, broker: str, partition: int, boundary: int, epoch: int | None, ms: int) -> None:
        """Somebody writes a boundary, with an epoch or without."""
        self._set(broker, partition, boundary, epoch, ms)

    @step(broker=BROKERS, partition=A_PARTITION, epoch=EPOCHS_OR_NONE, ms=A_WHILE)
    def reset(self, broker: str, partition: int, epoch: int | None, ms: int) -> None:
        """Somebody takes the boundary away."""
        self._set(broker, partition, -1, epoch, ms)

    @step(broker=BROKERS, partition=A_PARTITION, epoch=EPOCHS, ms=A_WHILE)
    def register(self, broker: str, partition: int, epoch: int, ms: int) -> None:
        """A new leader fences the older ones."""
        self._call("register_leader_epoch", broker, partition, ms, leader_epoch=epoch)

    @step(broker=BROKERS, partition=A_PARTITION, seeds=SOME_SEEDS, ms=A_WHILE)
    def seed(self, broker: str, partition: int, seeds: str, ms: int) -> None:
        """A leader stores producer state ahead of the boundary."""
        self._call("seed_producer_state", broker, partition, ms, entries=SEEDS[seeds])

    @step(broker=BROKERS, partition=A_PARTITION, count=(1, 2, 3), ms=A_WHILE)
    def commit(self, broker: str, partition: int, count: int, ms: int) -> None:
        """A broker commits a batch to the suffix."""
        self._call("commit_batch", broker, partition, ms, record_count=count)

    @step(broker=BROKERS, partition=A_PARTITION, seeds=(False, True), ms=A_WHILE)
    def look(self, broker: str, partition: int, seeds: bool, ms: int) -> None:
        """Somebody asks what is stored."""
        self._look(broker, partition, ms, seeds=seeds)

    # What befalls the database. Faults of brokers and links are the nemesis' own.

    @step(how=DATABASE_FAULTS, lasts=SO_LONG, ms=A_WHILE)
    def trouble_database(self, how: Sequence[Any], lasts: int | None, ms: int) -> None:
        """It refuses, breaks, takes its time, loses replies or gives calls up, for everybody."""
        name, options = how
        self._inject(lasts, ms, getattr(self.sim.faults, name), DATABASE, **options)

    @step(
        node=BROKERS,
        ahead=(1, 2, 3, 4),
        act=("KILL", "KILL_AFTER"),
        lasts=SO_LONG,
        ms=A_WHILE,
    )
    def strike(self, node: str, ahead: int, act: str, lasts: int | None, ms: int) -> None:
        """One of the next effects of a broker is its last, done or not."""
        # Nothing else: a failure of one effect looks like an outage, and the rules about outages
        # know of none but those of the whole database.
        number = self.sim.effects.counts.get(node, 0) + ahead
        self._inject(lasts, ms, self.sim.faults.at_effect, node, number, Act[act])

    # The end of an example.

    def finish(self) -> None:
        """Start what is down, wait for those who wait, then look at everything once more."""
        for name, node in self.sim.nodes.items():
            if not node.up:
                self.sim.start(name)
        self.sim.run_until(lambda: not self.open)
        for name, partition in zip(BROKERS, PARTITIONS, strict=False):
            self._look(name, partition, 0, seeds=True)
        self.sim.run_until(lambda: not self.open)

    def judge(self, folder: Path) -> Sequence[str]:
        """Every rule that is broken, with the first that shows it."""
        return [
            f"{one.rule.id}: {one.rule.sentence} ({one.result.findings[0].seen})"
            for one in self.judged(folder).judged
            if one.verdict is Verdict.FAIL
        ]

    def judged(self, folder: Path) -> Judgement:
        """What every rule says."""
        judgement = judge_run(folder, self.judged_by, engine(), reference=True)
        broken = [one for one in judgement.judged if one.verdict is Verdict.BROKEN]
        if broken:
            raise LabBroken(f"{broken[0].rule.id} could not be judged: {broken[0].reason}")
        return judgement

    # What steps have in common.

    def _set(self, broker: str, partition: int, boundary: int, epoch: int | None, ms: int) -> None:
        f = "set_diskless_log_start_offset"
        self._call(f, broker, partition, ms, boundary=boundary, leader_epoch=epoch)

    def _look(self, broker: str, partition: int, ms: int, *, seeds: bool) -> None:
        f = "describe_producers" if seeds else "get_diskless_log_start_offset"
        self._call(f, broker, partition, ms)

    def _call(self, f: str, broker: str, partition: int, ms: int, **arguments: Any) -> None:
        """Begin a call through a broker, unless its client waits for another."""
        if self.idle(broker):
            arguments = {"topic": TOPIC, "partition": partition, **arguments}
            self.begin(broker, f, partial(self._asked, broker, f, arguments), **arguments)
        self.pass_time(ms)

    async def _asked(self, broker: str, f: str, arguments: dict[str, Any]) -> Outcome:
        """Ask over a connection of its own; who gets no answer in time knows nothing."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                connection = await self.sim.lab.connect(Address(broker, PORT))
                try:
                    await connection.send(question(1, f, arguments) + b"\n")
                    line = await read_line(connection)
                finally:
                    connection.abort()
        except OSError:
            return Outcome(*ending(f, None))
        return Outcome(*ending(f, Answer.of(json.loads(line))))
