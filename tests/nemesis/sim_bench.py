"""A simulated deployment with a nemesis, and the fault lines that it wrote."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.clients.admin import create_topic
from harness.clients.raw import RawClient
from harness.deployments.deployment import Client
from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import SimDeployment, open_sim
from harness.history import Run
from nemesis.nemesis import Active, Nemesis
from reference_impl.ports.object_store import StoreError

Line = dict[str, Any]
Meet = Callable[[Client], Awaitable[object]]
PROPERTIES = {"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "300"}
SMALL = DeploymentPlan(brokers=0, control_plane="memory", object_store="memory")
CLUSTER = DeploymentPlan(
    brokers=3, properties=PROPERTIES, control_plane="memory", object_store="memory"
)
LONG_S = 6.0


@dataclass(slots=True)
class Bench:
    system: SimDeployment
    nemesis: Nemesis
    folder: Path

    def suffer(self, fault: str, target: str, meet: Meet | None = None, **options: Any) -> Active:
        """Begin a fault, let client a do something or nothing, end it."""
        return self.system.run(self._suffer(fault, target, meet, options))

    async def _suffer(self, fault: str, target: str, meet: Meet | None, options: Any) -> Active:
        client = await self.system.client("a")
        active = await self.nemesis.begin(fault, target, **options)
        work = asyncio.ensure_future(_tried(meet, client))
        await asyncio.sleep(LONG_S)
        self.nemesis.look()
        await self.nemesis.end(active)
        await work
        return active

    def lines(self, since: int = 0) -> list[Line]:
        (shard,) = (self.folder / "shards").glob("*.jsonl")
        lines = [json.loads(line) for line in shard.read_text("utf-8").splitlines()]
        return [line for line in lines if line["kind"] == "fault"][since:]

    def phases(self, fault: str, since: int = 0) -> list[str]:
        return [line["phase"] for line in self.lines(since) if line["name"] == fault]


async def _tried(meet: Meet | None, client: Client) -> None:
    if meet is not None:
        with suppress(StoreError):
            await meet(client)


@contextmanager
def bench(folder: Path, plan: DeploymentPlan, *, seed: int = 7) -> Iterator[Bench]:
    """With an object `key`, a log `t-0`, and a topic of that name where there are brokers."""
    run = Run.create(folder / "run", run="test", sut="test", world="sim", seed=seed)
    with open_sim(run, plan, seed=seed, forgiving=True) as system:
        system.run(_prepared(system))
        yield Bench(system, Nemesis(system), run.folder)


async def _prepared(system: SimDeployment) -> None:
    client = await system.client("a")
    if not system.brokers:
        await client.store(lambda store: store.put("key", b"value"))
        await client.control_plane("create_log", {"topic": "t", "partition": 0})
        return
    raw = RawClient(system.network, system.address(1))
    await create_topic(raw, system.recorder.topic("t"), assignments=[[1, 2, 3]])
