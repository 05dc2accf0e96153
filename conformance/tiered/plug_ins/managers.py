"""Metadata managers of two brokers that cases are played on: in memory, or on the topic.

Those on the topic are the ones that brokers have unless told otherwise. They stand beside a broker
that has the topic, in a simulation, each on a node of its own. Every case has a partition of its
own there, so one cluster is enough for all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar
from uuid import UUID

from harness.deployments.plan import DeploymentPlan
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.simulation.simulation import Simulation
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.metadata.image import Image
from reference_impl.metrics.registry import Registry
from reference_impl.partitions.catalog import StorageContext
from reference_impl.ports import Address, Ports
from reference_impl.tiered.memory_metadata import MemoryMetadataManager, MemoryMetadataRegistry
from reference_impl.tiered.metadata import RemoteLogMetadataManager
from reference_impl.tiered.segments import TopicIdPartition
from reference_impl.tiered.topic_client import MetadataTopicClient
from reference_impl.tiered.topic_metadata import TopicBasedMetadataManager

T = TypeVar("T")
ORDERS = TopicIdPartition(UUID("00010203-0405-0607-0809-0a0b0c0d0e0f"), "orders", 0)
PARTITIONS = 2
CONFIGS = {
    "remote.log.metadata.topic.num.partitions": str(PARTITIONS),
    "remote.log.metadata.topic.replication.factor": "1",
}


class Managers(Protocol):
    """A partition that no other case has, and a manager for each broker."""

    partition: TopicIdPartition

    def of(self, broker: int) -> RemoteLogMetadataManager:
        """The manager of a broker; it has been told of nothing yet."""
        ...

    async def published(self) -> int:
        """How many events there are, of whatever partition."""
        ...


class InMemory:
    """Views of one registry."""

    def __init__(self) -> None:
        self.partition = ORDERS
        self._registry = MemoryMetadataRegistry()

    def of(self, broker: int) -> RemoteLogMetadataManager:
        """See the interface."""
        return MemoryMetadataManager(self._registry, broker_id=broker)

    async def published(self) -> int:
        """See the interface."""
        return len(self._registry.events)


def beside(
    ports: Ports, broker: int, *, image: Image, metrics: Registry, at: Callable[[], Address]
) -> StorageContext:
    """What a manager is told of the broker that it stands for, whose listener is `at`."""
    return StorageContext(
        ports=ports,
        broker_id=broker,
        cluster_id="c",
        log_dir="d",
        image=image,
        layers=lambda: BrokerLayers(static={}),
        metrics=metrics,
        listening=at,
    )


class OnTopic:
    """Managers on the metadata topic of a simulated broker."""

    def __init__(self, sim: Simulation) -> None:
        self._cluster = SimulatedCluster(sim, DeploymentPlan(brokers=1))
        self._cluster.settle()
        self._managers: dict[int, TopicBasedMetadataManager] = {}
        self._ports: dict[int, Ports] = {}
        self._cases = 0
        for broker in (1, 2):
            sim.add(f"m{broker}", partial(self._program, broker))
        sim.run_until(lambda: len(self._managers) == 2)
        self.partition = ORDERS

    async def _program(self, broker: int, ports: Ports) -> None:
        """Hold a manager."""
        told = beside(ports, broker, image=Image(), metrics=Registry(), at=self._listener)
        manager = TopicBasedMetadataManager(told)
        manager.configure(CONFIGS)
        self._ports[broker], self._managers[broker] = ports, manager
        await asyncio.Event().wait()

    def _listener(self) -> Address:
        return self._cluster.address(1)

    def next_case(self) -> OnTopic:
        """The same for another case: the topic of that name was created again."""
        self._cases += 1
        self.partition = TopicIdPartition(UUID(int=self._cases), ORDERS.topic, ORDERS.partition)
        return self

    def of(self, broker: int) -> RemoteLogMetadataManager:
        """See the interface."""
        return self._managers[broker]

    async def published(self) -> int:
        """See the interface."""
        client = MetadataTopicClient(self._ports[1], self._listener, "lab")
        try:
            ((leader, numbers),) = (await client.leaders([*range(PARTITIONS)])).items()
            return sum((await client.end_offsets(leader, numbers)).values())
        finally:
            await client.close()
