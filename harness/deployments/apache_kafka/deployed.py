"""Apache Kafka as a deployment: from its jars, or from an image by Docker.

What its nodes said stays in the run folder, below the name of the shard.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.deployments.apache_kafka.containers import ContainerKafka
from harness.deployments.apache_kafka.isolated import IsolatedKafka
from harness.deployments.apache_kafka.remote_folder import RemoteFolder, TieringLevers
from harness.deployments.deployment import OBJECT_STORE, Deployment, Role
from harness.deployments.docker.links import limit
from harness.deployments.live import LiveDeployment
from harness.deployments.live_levers import LiveLevers
from harness.deployments.plan import DeploymentPlan
from harness.history import Run
from harness.scratch import ScratchFolder

LOGS = "nodes"  # in the run folder


def _logs(run: Run, shard: str | None) -> Path:
    return run.folder / LOGS / (shard or "main")


@contextmanager
def kafka_from_jars(
    run: Run, plan: DeploymentPlan, *, part: int = 0, shard: str | None = None
) -> Iterator[Deployment]:
    """Processes with links that can be cut; their data does not stay."""
    with (
        ScratchFolder("kafka") as folder,
        IsolatedKafka(plan, logs=_logs(run, shard), data=folder) as kafka,
        TieredKafka(run, kafka, world="process", part=part, shard=shard) as deployed,
    ):
        yield deployed


class TieredKafka(LiveDeployment):
    """With the folder that its brokers tier to, as an object store that can be seen and broken."""

    def __init__(
        self, run: Run, kafka: IsolatedKafka | ContainerKafka, *, world: str, **named: Any
    ) -> None:
        self._remote = RemoteFolder(kafka.remote)
        brokers = kafka.plan.broker_ids
        super().__init__(run, kafka, world=world, brokers=brokers, links=kafka.links, **named)
        self.offer("objects", lambda: asyncio.to_thread(self._remote.objects))

    def nodes(self, role: Role) -> tuple[str, ...]:
        """Also the store."""
        return (OBJECT_STORE,) if role is Role.OBJECT_STORE else super().nodes(role)

    def make_levers(self, hurting: frozenset[str]) -> LiveLevers:
        """With those on the store."""
        links, nodes = self._links, self._live_nodes
        return TieringLevers(nodes, self.clients, self._remote, links=links, hurting=hurting)


@contextmanager
def kafka_from_image(
    run: Run, plan: DeploymentPlan, *, part: int = 0, shard: str | None = None
) -> Iterator[Deployment]:
    """Containers; the kernel cuts the links between them."""
    with (
        ContainerKafka(plan, logs=_logs(run, shard), run=str(run.header["run"])) as kafka,
        TieredKafka(run, kafka, world="docker", part=part, shard=shard) as deployed,
    ):
        limit(deployed.levers, kafka.links)
        yield deployed
