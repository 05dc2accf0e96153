"""Metadata managers on the topic, in a simulation: three brokers, and a node for each manager.

The managers stand beside the brokers, not in them, so that either can be ended without the other;
which metadata partitions they "lead" is set by hand.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from metadata_benches import Call

from conformance.tiered.plug_ins.managers import beside
from harness.clients.raw import RawClient
from harness.deployments.plan import DeploymentPlan
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.simulation.simulation import Simulation
from reference_impl.log.checkpoints import read_file, replace_file
from reference_impl.metadata.image import Image, PartitionState, Topic
from reference_impl.metrics.registry import Registry
from reference_impl.ports import Ports
from reference_impl.tiered.topic_client import METADATA_TOPIC, MetadataTopicClient
from reference_impl.tiered.topic_metadata import TopicBasedMetadataManager

T = TypeVar("T")
PARTITIONS = 2
SETTINGS = {
    "replica.lag.time.max.ms": "2000",
    "replica.fetch.backoff.ms": "100",
    "log.retention.ms": "-1",
}
CONFIGS = {"remote.log.metadata.topic.num.partitions": str(PARTITIONS)}


class TopicBench:
    """See the module. Managers are those of "brokers" 1 and 2, on the nodes m1 and m2."""

    def __init__(
        self, *, seed: int = 1, brokers: int = 3, configs: dict[str, str] | None = None
    ) -> None:
        self.sim = Simulation(seed=seed)
        self.cluster = SimulatedCluster(
            self.sim, DeploymentPlan(brokers=brokers, properties=SETTINGS)
        )
        self.cluster.settle()
        self.configs = CONFIGS | (configs or {})
        self.managers: dict[int, TopicBasedMetadataManager] = {}
        self.metrics: dict[int, Registry] = {}
        self._calls: dict[int, asyncio.Queue[Any]] = {}
        self._images = {1: Image(), 2: Image()}
        self._epoch = 0
        for broker in self._images:
            self.sim.add(f"m{broker}", partial(self._program, broker))
        self.sim.advance(0.1)

    async def _program(self, broker: int, ports: Ports) -> None:
        """Hold a manager, and do with it what the lab asks for."""
        self.metrics[broker] = Registry()
        context = beside(
            ports,
            broker,
            image=self._images[broker],
            metrics=self.metrics[broker],
            at=lambda: self.cluster.address(broker),
        )
        manager = self.managers[broker] = TopicBasedMetadataManager(context)
        manager.configure(self.configs)
        calls = self._calls[broker] = asyncio.Queue()
        doing = []
        while True:
            do, told = await calls.get()
            doing.append(asyncio.create_task(_answered(do(manager), told)))

    def call(self, broker: int, do: Call[T]) -> T:
        return self.sim.run(self.called(broker, do), within_s=300)

    async def called(self, broker: int, do: Call[T]) -> T:
        """The same from within the simulation."""
        told: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls[broker].put_nowait((do, told))
        return await told

    def close_manager(self, broker: int) -> None:
        """A clean end; its node is down then."""
        self.call(broker, lambda manager: manager.close())
        self.sim.kill(f"m{broker}")

    def start(self, broker: int) -> None:
        """Another manager on the same disk."""
        self.sim.start(f"m{broker}")
        self.sim.advance(0.1)

    def restart(self, broker: int) -> None:
        self.close_manager(broker)
        self.start(broker)

    def lead(self, broker: int | None) -> None:
        self._epoch += 1
        state = PartitionState(
            replicas=(1, 2, 3),
            isr=(1, 2, 3),
            leader=-1 if broker is None else broker,
            leader_epoch=self._epoch,
            partition_epoch=0,
        )
        for image in self._images.values():
            image.topics[METADATA_TOPIC] = Topic(
                name=METADATA_TOPIC,
                topic_id=UUID(int=1),
                partitions=dict.fromkeys(range(PARTITIONS), state),
            )
        self.sim.advance(1)

    def close(self) -> None:
        self.sim.close()

    # The topic itself, and the disks of managers.

    def produce(self, number: int, value: bytes) -> int:
        """Append any bytes to the topic."""

        async def produced(ports: Ports, told: asyncio.Future[int]) -> None:
            client = MetadataTopicClient(ports, lambda: self.cluster.address(1), "lab")
            told.set_result(await client.produce(number, value))
            await client.close()

        return self.on_node(produced)

    def end_of(self, number: int) -> int:
        """The end of a partition of the topic."""

        async def asked(ports: Ports, told: asyncio.Future[int]) -> None:
            client = MetadataTopicClient(ports, lambda: self.cluster.address(1), "lab")
            ((leader, _),) = (await client.leaders([number])).items()
            told.set_result((await client.end_offsets(leader, [number]))[number])
            await client.close()

        return self.on_node(asked)

    def on_node(self, program: Any) -> Any:
        """Run a program on a node of its own until it told what came of it."""
        told: asyncio.Future[Any] = self.sim.loop.create_future()

        async def run(ports: Ports) -> None:
            await program(ports, told)
            await asyncio.Event().wait()

        name = f"lab-{len(self.sim.nodes)}"
        self.sim.add(name, run)
        self.sim.run_until(told.done, within_s=60)
        self.sim.kill(name)
        return told.result()

    def names(self, broker: int, directory: str) -> tuple[str, ...]:
        """The files in a directory of a manager's disk."""
        return self.sim.run(self.sim.nodes[f"m{broker}"].disk.names(directory))

    def file(self, broker: int, path: str) -> bytes | None:
        """A file on that disk."""
        return self.sim.run(read_file(self.sim.nodes[f"m{broker}"].disk, path))

    def overwrite(self, broker: int, path: str, data: bytes | None) -> None:
        """Change a file on that disk, or take it away."""
        disk = self.sim.nodes[f"m{broker}"].disk

        write = disk.remove(path) if data is None else replace_file(disk, path, data)
        self.sim.run(write)

    def raw(self, broker: int) -> RawClient:
        """A client of a broker."""
        return RawClient(self.sim.lab, self.cluster.address(broker))

    def log(self, broker: int) -> str:
        """What a manager's node has written to its log."""
        return "\n".join(self.sim.nodes[f"m{broker}"].log_lines)


async def _answered(work: Any, told: asyncio.Future[Any]) -> None:
    try:
        result = await work
    except Exception as error:
        if not told.done():
            told.set_exception(error)
        return
    if not told.done():
        told.set_result(result)
