"""The boundary register under a nemesis: three clients of a control plane, judged by the rules.

Clients ask the control plane as brokers do that migrate a partition. Steps begin calls, let time
pass, and do things to clients, to their links and to the control plane; the history is judged by
every rule of the migration.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from conformance.catalogue import CATALOGUE
from conformance.trials.judging import JudgedTrial
from harness.deployments.deployment import Client, ClientLost
from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import SimDeployment
from harness.history.recorder import Operation
from harness.steps.step import NEMESIS, Step
from harness.steps.vocabulary import Drawn, Speaks, Vocabulary, verb
from harness.sut.calls import SEEDS
from nemesis.nemesis import Nemesis
from nemesis.steps import A_WHILE as FAULT_WHILE
from nemesis.steps import SO_LONG, NemesisSteps

CLIENTS = ("a", "b", "c")
PARTITIONS = (0, 1)
TOPIC = "t"
PATIENCE_S = 0.05  # of a client
REST_S = 1.0
MOST_FAULTS = 2  # at a time

# What calls may be about, simplest first.
A_PARTITION = (0, 0, 1)  # mostly the same
BOUNDARIES = (100, 200, 0)
EPOCHS = (1, 2, 3)
EPOCHS_OR_NONE = (*EPOCHS, None)
SOME_SEEDS = ("none", "A", "C")
A_WHILE = (10, 0, 1)  # milliseconds, after a step

# What faults may hit.
SERVICE = ("control-plane",)
NODES = tuple(f"client {one}" for one in CLIENTS)
WAYS = ("{} <-> control-plane", "{} -> control-plane", "control-plane -> {}")
LINKS = tuple(way.format(node) for way in WAYS for node in NODES)


class Calls(Vocabulary):
    """What clients ask of the control plane, one call at a time each."""

    def __init__(self, system: SimDeployment, clients: dict[str, Client]) -> None:
        self._recorder = system.recorder
        self._clients = clients
        self._open: dict[str, Operation] = {}
        self._under_way: list[asyncio.Task[None]] = []

    @verb(partition=A_PARTITION, boundary=BOUNDARIES, epoch=EPOCHS, seeds=SOME_SEEDS, ms=A_WHILE)
    async def initialize(
        self, step: Step, partition: int, boundary: int, epoch: int, seeds: str, ms: int
    ) -> None:
        """A leader proposes a boundary, with seeds."""
        asked = {"boundary": boundary, "leader_epoch": epoch, "entries": SEEDS[seeds]}
        await self.ask(step.actor, "initialize_diskless_migration", partition, ms, **asked)

    @verb(partition=A_PARTITION, boundary=(*BOUNDARIES, -1), epoch=EPOCHS_OR_NONE, ms=A_WHILE)
    async def set(
        self, step: Step, partition: int, boundary: int, epoch: int | None, ms: int
    ) -> None:
        """A broker writes a boundary or takes it away, with an epoch or without."""
        asked = {"boundary": boundary, "leader_epoch": epoch}
        await self.ask(step.actor, "set_diskless_log_start_offset", partition, ms, **asked)

    @verb(partition=A_PARTITION, epoch=EPOCHS, ms=A_WHILE)
    async def register(self, step: Step, partition: int, epoch: int, ms: int) -> None:
        """A new leader fences the older ones."""
        await self.ask(step.actor, "register_leader_epoch", partition, ms, leader_epoch=epoch)

    @verb(partition=A_PARTITION, seeds=SOME_SEEDS, ms=A_WHILE)
    async def seed(self, step: Step, partition: int, seeds: str, ms: int) -> None:
        """A leader stores producer state ahead of the boundary."""
        await self.ask(step.actor, "seed_producer_state", partition, ms, entries=SEEDS[seeds])

    @verb(partition=A_PARTITION, count=(1, 2, 3), ms=A_WHILE)
    async def commit(self, step: Step, partition: int, count: int, ms: int) -> None:
        """A broker commits a batch to the suffix."""
        await self.ask(step.actor, "commit_batch", partition, ms, record_count=count)

    @verb(
        f=("get_diskless_log_start_offset", "describe_producers"), partition=A_PARTITION, ms=A_WHILE
    )
    async def look(self, step: Step, f: str, partition: int, ms: int) -> None:
        """A broker asks what is stored."""
        await self.ask(step.actor, f, partition, ms)

    async def ask(self, name: str, f: str, partition: int, ms: int, **arguments: Any) -> None:
        """Begin a call, unless the client waits for another; then let time pass."""
        if name not in self._open or not self._open[name].open:
            asked = {"topic": TOPIC, "partition": partition, **arguments}
            operation = self._open[name] = self._recorder.invoke(name, f, asked)
            carrying = asyncio.ensure_future(self._carry(operation, self._clients[name]))
            self._under_way.append(carrying)
        await asyncio.sleep(ms / 1000)

    async def _carry(self, operation: Operation, client: Client) -> None:
        """What is not answered in time is unknown, and goes on."""
        loop = asyncio.get_running_loop()
        loop.call_later(PATIENCE_S, self._recorder.complete, operation, None)
        try:
            answer = await client.control_plane(operation.f, operation.arguments)
        except ClientLost:
            answer = None
        self._recorder.complete(operation, answer)


def _fault(name: str, target: Sequence[str], ms: Sequence[int] = A_WHILE, **options: Any) -> Drawn:
    """A fault that may be drawn, with these targets and options."""
    lists = {**options, "target": target, "lasts": SO_LONG, "ms": ms}
    return Drawn(actors=(NEMESIS,), verb=name, lists=MappingProxyType(lists))


# Of single effects only death: a failure of one looks like an outage, and the rules about outages
# know of none but those of the whole control plane.
FAULTS = (
    _fault("control-plane-refused", SERVICE),
    _fault("control-plane-broken", SERVICE),
    _fault("control-plane-slow", SERVICE, seconds=(PATIENCE_S / 5, 2 * PATIENCE_S)),
    _fault("control-plane-disturbed", SERVICE),
    _fault("lose-reply", SERVICE),
    _fault("effect-kill", NODES, ahead=(1, 2, 3, 4)),
    _fault("effect-kill-after", NODES, ahead=(1, 2, 3, 4)),
    _fault("kill", NODES, FAULT_WHILE),
    _fault("pause", NODES, FAULT_WHILE),
    _fault("cut", LINKS, FAULT_WHILE),
    *(one for one in NemesisSteps.drawn() if one.verb == "heal"),
)


class BoundaryTrial(JudgedTrial):
    """Three clients of a control plane, and the logs of two partitions."""

    plan = DeploymentPlan(brokers=0, control_plane="memory")
    profiles = ("migration",)
    judged_by = tuple(CATALOGUE.of_profiles(profiles).judged())
    drawn = (*Calls.drawn(*CLIENTS), *FAULTS)

    async def build(self) -> None:
        """Clients that run, and logs that exist."""
        clients = {name: await self.system.client(name) for name in CLIENTS}
        self.calls = Calls(self.system, clients)
        self.nemesis = Nemesis(self.system)
        await asyncio.sleep(0)
        for name, partition in zip(CLIENTS, PARTITIONS, strict=False):
            await self.calls.ask(name, "create_log", partition, 0)
        await asyncio.sleep(PATIENCE_S)

    def vocabularies(self) -> Sequence[Speaks]:
        """Calls and faults."""
        return [self.calls, NemesisSteps(self.system, self.nemesis, most=MOST_FAULTS)]

    async def finish(self) -> None:
        """Heal, wait for what is under way, then look at everything once more."""
        await self.nemesis.heal_all()
        await asyncio.sleep(REST_S)
        for name, partition in zip(CLIENTS, PARTITIONS, strict=False):
            await self.calls.ask(name, "describe_producers", partition, 0)
        await asyncio.sleep(PATIENCE_S)
