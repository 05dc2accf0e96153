"""A controller in the simulation, and a lab that talks to it as brokers and administrators do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID

from harness.simulation.simulation import Simulation
from reference_impl.controller.controller import (
    METADATA_TOPIC_ID,
    ControllerSettings,
    run_controller,
)
from reference_impl.kafka import apis
from reference_impl.kafka.batches import batches
from reference_impl.kafka.client import Peer
from reference_impl.kafka.message import Message
from reference_impl.kafka.records import records
from reference_impl.metadata.image import Image
from reference_impl.metadata.records import from_bytes
from reference_impl.ports import Address, Ports

NAME = "controller"
AT = Address(NAME, 9093)
CLUSTER = "lab-cluster"
SESSION_S = 9.0


def add_controller(sim: Simulation, properties: Mapping[str, str] | None = None) -> None:
    """A node that runs the controller whenever it is started."""

    async def program(ports: Ports) -> None:
        settings = ControllerSettings(
            node_id=100, cluster_id=CLUSTER, listen=AT, properties=properties or {}
        )
        await run_controller(ports, settings)

    sim.add(NAME, program)


def played(scenario: Callable[[Lab], Awaitable[None]], **properties: str) -> None:
    """Play the scenario in a fresh cluster without brokers; properties with _ for dots."""

    async def whole(lab: Lab) -> None:
        try:
            await scenario(lab)
        finally:
            await lab.peer.close()

    with Simulation(seed=3) as sim:
        add_controller(sim, {name.replace("_", "."): value for name, value in properties.items()})
        sim.run(whole(Lab(sim)))


class Lab:
    """Asks the controller, in the newest version of everything unless told otherwise."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.peer = Peer(sim.lab, AT, "lab")
        self.epochs: dict[int, int] = {}

    async def ask(self, api: apis.Api, version: int | None = None, **fields: Any) -> Any:
        """The answer to a request with these fields."""
        chosen = api.versions[-1] if version is None else version
        return await self.peer.ask(api, chosen, api.request(**fields), timeout_s=30)

    async def image(self) -> Image:
        """What a broker would know that has read the whole metadata log."""
        image = Image()
        while True:
            answer = await self.fetch(image.offset + 1)
            data = answer.responses[0].partitions[0]
            for at, _ in batches(data.records or b""):
                for record in records(data.records, at):
                    image.apply(from_bytes(record.value or b""))
            if image.offset + 1 >= data.high_watermark:
                return image

    async def fetch(self, offset: int, max_wait_ms: int = 0) -> Message:
        """One fetch of the metadata log."""
        request = apis.FETCH.request
        partition = request.FetchPartition(
            partition=0, fetch_offset=offset, partition_max_bytes=1 << 20
        )
        topic = request.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])
        answer: Message = await self.ask(
            apis.FETCH, 17, max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=1 << 20, topics=[topic]
        )
        return answer

    async def register(
        self, broker_id: int, *, rack: str | None = None, life: int = 1, previous: int = -1
    ) -> Any:
        """A broker's registration; the epoch is kept for its heartbeats."""
        answer = await self.ask(
            apis.BROKER_REGISTRATION,
            broker_id=broker_id,
            cluster_id=CLUSTER,
            incarnation_id=UUID(int=broker_id * 1000 + life),
            listeners=[
                apis.BROKER_REGISTRATION.request.Listener(
                    name="PLAINTEXT", host=f"b{broker_id}", port=9092, security_protocol=0
                )
            ],
            rack=rack,
            log_dirs=[UUID(int=broker_id * 7 + 100)],
            previous_broker_epoch=previous,
        )
        if not answer.error_code:
            self.epochs[broker_id] = answer.broker_epoch
        return answer

    async def beat(self, broker_id: int, *, leave: bool = False, offset: int = 1 << 40) -> Any:
        """A heartbeat of a broker that has read everything."""
        return await self.ask(
            apis.BROKER_HEARTBEAT,
            1,
            broker_id=broker_id,
            broker_epoch=self.epochs[broker_id],
            current_metadata_offset=offset,
            want_fence=False,
            want_shut_down=leave,
        )

    async def up(self, *broker_ids: int, racks: Mapping[int, str] | None = None) -> None:
        """Brokers that are registered and serve."""
        for broker_id in broker_ids:
            await self.register(broker_id, rack=(racks or {}).get(broker_id))
            await self.beat(broker_id)

    async def create(self, name: str, *replicas: tuple[int, ...], **configs: str) -> Any:
        """A topic with these replicas of its partitions; its result."""
        request = apis.CREATE_TOPICS.request
        topic = request.CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                request.CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
                for index, brokers in enumerate(replicas)
            ],
            configs=[
                request.CreatableTopicConfig(name=key.replace("_", "."), value=value)
                for key, value in configs.items()
            ],
        )
        answer = await self.ask(apis.CREATE_TOPICS, topics=[topic], timeout_ms=5000)
        return answer.topics[0]

    async def state(self, topic: str, partition: int = 0) -> Any:
        """A partition, as brokers know it."""
        return (await self.image()).partition(topic, partition)

    async def alter_isr(
        self, leader: int, topic: str, state: Any, members: list[Any], partition: int = 0
    ) -> Any:
        """AlterPartition by a leader that knows this state; the partition's result."""
        request = apis.ALTER_PARTITION.request
        asked = request.PartitionData(
            partition_index=partition,
            leader_epoch=state.leader_epoch,
            partition_epoch=state.partition_epoch,
            new_isr_with_epochs=members,
        )
        topic_id = (await self.image()).topics[topic].topic_id
        answer = await self.ask(
            apis.ALTER_PARTITION,
            broker_id=leader,
            broker_epoch=self.epochs[leader],
            topics=[request.TopicData(topic_id=topic_id, partitions=[asked])],
        )
        return answer.topics[0].partitions[0] if answer.topics else answer


async def silence(lab: Lab, *others: int, seconds: float = SESSION_S * 1.5) -> None:
    """Time passes, in which only these brokers speak."""
    for _ in range(int(seconds)):
        await asyncio.sleep(1)
        for broker in others:
            await lab.beat(broker)
