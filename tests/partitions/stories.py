"""What toy stories share: a cluster with a storage, and clients that note every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Generic, TypeVar

from kio.schema.fetch.v12 import request as fetch_v12
from kio.schema.list_offsets.v11 import request as list_offsets_v11
from kio.schema.write_txn_markers.v1 import request as write_txn_markers_v1
from kio.static.primitive import i8, i16, i32, i32Timedelta, i64

from harness.clients.admin import create_topic, leadership
from harness.clients.operations import (
    TopicPartition,
    delete_records,
    fetch,
    list_offsets,
    produce,
    records_in,
)
from harness.clients.raw import RawClient
from harness.deployments.plan import DeploymentPlan
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.simulation.simulation import Simulation
from reference_impl.partitions.catalog import StorageContext
from reference_impl.partitions.views import FetchReader
from reference_impl.ports import Ports
from reference_impl.replication.decisions import Reader

S = TypeVar("S")
Seen = tuple[Any, ...]
SETTINGS = {
    "replica.lag.time.max.ms": "2000",
    "replica.fetch.wait.max.ms": "100",
    "replica.fetch.backoff.ms": "100",
    "log.retention.ms": "-1",
    "remote.list.offsets.request.timeout.ms": "1000",
}


class Story(Generic[S]):
    """Three brokers with a storage each; ``notes`` has every answer under its label."""

    def __init__(self, sim: Simulation, make: Callable[[Ports, int], S]) -> None:
        self.sim = sim
        self.storages: dict[int, S] = {}
        self.notes: dict[str, Seen] = {}

        def made(context: StorageContext) -> Any:
            made = self.storages[context.broker_id] = make(context.ports, context.broker_id)
            return made

        plan = DeploymentPlan(brokers=3, racks=("a", "b", "c"), properties=SETTINGS)
        self.cluster = SimulatedCluster(sim, plan, storages=[made])
        self.cluster.settle()

    @contextmanager
    def client(self, broker: int) -> Iterator[RawClient]:
        """A connection of its own for each request: nothing waits behind another."""
        client = RawClient(self.sim.lab, self.cluster.address(broker))
        try:
            yield client
        finally:
            client.abort()

    def create(self, topic: str, replicas: Sequence[int]) -> None:
        """A topic with one partition, whose first replica leads it."""
        with self.client(replicas[0]) as client:
            self.sim.run(create_topic(client, topic, assignments=[list(replicas)]))
        self.sim.advance(2)

    async def note(self, label: str, asked: Any) -> Seen:
        """Carry out an operation and keep what the client saw."""
        try:
            outcome = await asked
            said = outcome.fields
            seen: Seen = (said["error"],)
            for name in ("offset", "timestamp", "high_watermark", "log_start_offset"):
                if name in said:
                    seen += (said[name],)
            if "records" in said:
                seen += (tuple(f"{one[0]}:{one[1]}" for one in said["records"]),)
        except (TimeoutError, ConnectionError, OSError) as lost:
            seen = (type(lost).__name__,)
        self.notes[label] = seen
        return seen

    async def send(self, label: str, topic: str, value: str, *, at: int, stamp: int = 0) -> Seen:
        """Append one record, acknowledged by all."""
        tp = TopicPartition(topic, 0)
        with self.client(at) as client:
            asked = produce(client, tp, records=[(value, stamp)], acks=-1)
            return await self.note(label, asked)

    async def read(
        self,
        label: str,
        topic: str,
        offset: int,
        *,
        at: int,
        wait_ms: int = 100,
        most: int = 1 << 20,
    ) -> Seen:
        """Fetch from an offset on."""
        tp = TopicPartition(topic, 0)
        with self.client(at) as client:
            asked = fetch(
                client, tp, offset=offset, max_wait_ms=wait_ms, max_bytes=most, timeout_s=30.0
            )
            return await self.note(label, asked)

    async def read_all(
        self, label: str, offsets: Mapping[str, int], *, at: int, wait_ms: int, within_s: float
    ) -> None:
        """Fetch of several topics in one request; the last note says whether that was in time."""
        v = fetch_v12
        request = v.FetchRequest(
            replica_id=i32(-1),  # type: ignore[arg-type]
            max_wait=i32Timedelta.parse(timedelta(milliseconds=wait_ms)),
            min_bytes=i32(1),
            isolation_level=i8(0),
            session_epoch=i32(-1),
            topics=tuple(
                v.FetchTopic(
                    topic=topic,  # type: ignore[arg-type]
                    partitions=(
                        v.FetchPartition(
                            partition=i32(0),
                            current_leader_epoch=i32(-1),
                            fetch_offset=i64(offset),
                            partition_max_bytes=i32(1 << 20),
                        ),
                    ),
                )
                for topic, offset in offsets.items()
            ),
            forgotten_topics_data=(),
            rack_id="",
        )
        clock = asyncio.get_running_loop().time
        begun_s = clock()
        with self.client(at) as client:
            answer = await client.ask(request, timeout_s=30.0)
        self.notes[f"{label}: in time"] = (clock() - begun_s <= within_s,)
        for said in answer.responses:
            one = said.partitions[0]
            found = records_in(bytes(one.records or b""), offsets[said.topic])
            seen = tuple(f"{each[0]}:{each[1]}" for each in found)
            told = (int(one.error_code), one.high_watermark, one.log_start_offset, seen)
            self.notes[f"{label}: {said.topic}"] = told

    async def follow(self, label: str, topic: str, offset: int, *, version: int) -> Seen:
        """Fetch as the replica of broker 2 would, from broker 1, in a version of Fetch."""
        storage: Any = self.storages[1]
        partition = storage.partitions[topic][0]
        reader = FetchReader(
            Reader.FOLLOWER, 2, version, current_epoch=partition.state.leader_epoch, max_bytes=1
        )
        route = partition.plan_read(offset, reader).route
        self.notes[label] = (type(route).__name__, *route)
        return self.notes[label]

    async def marked(self, label: str, topic: str, *, at: int) -> Seen:
        """End a transaction of producer 7, as its coordinator does."""
        v = write_txn_markers_v1
        named = v.WritableTxnMarkerTopic(name=topic, partition_indexes=(i32(0),))  # type: ignore[arg-type]
        marker = v.WritableTxnMarker(
            producer_id=i64(7),  # type: ignore[arg-type]
            producer_epoch=i16(0),
            transaction_result=True,
            topics=(named,),
            coordinator_epoch=i32(0),
        )
        with self.client(at) as client:
            answer = await client.ask(v.WriteTxnMarkersRequest(markers=(marker,)), timeout_s=9.0)
        self.notes[label] = (int(answer.markers[0].topics[0].partitions[0].error_code),)
        return self.notes[label]

    async def listed(self, label: str, topic: str, timestamp: int, *, at: int) -> Seen:
        """The offset of a timestamp."""
        with self.client(at) as client:
            asked = list_offsets(client, TopicPartition(topic, 0), timestamp=timestamp)
            return await self.note(label, asked)

    async def special(self, label: str, topic: str, timestamp: int, *, at: int) -> Seen:
        """The offset of a special timestamp that only the newest version may ask for."""
        v = list_offsets_v11
        one = v.ListOffsetsPartition(
            partition_index=i32(0), current_leader_epoch=i32(-1), timestamp=i64(timestamp)
        )
        named = v.ListOffsetsTopic(name=topic, partitions=(one,))  # type: ignore[arg-type]
        request = v.ListOffsetsRequest(
            replica_id=i32(-1),  # type: ignore[arg-type]
            isolation_level=i8(0),
            topics=(named,),
            timeout=i32Timedelta.parse(timedelta(seconds=5)),
        )
        with self.client(at) as client:
            answer = await client.ask(request, timeout_s=5.0)
        said = answer.topics[0].partitions[0]
        self.notes[label] = (int(said.error_code), said.offset, said.leader_epoch)
        return self.notes[label]

    async def deleted(self, label: str, topic: str, before: int, *, at: int) -> Seen:
        """Delete the records below an offset."""
        with self.client(at) as client:
            asked = delete_records(client, TopicPartition(topic, 0), offset=before)
            return await self.note(label, asked)

    async def leader(self, label: str, topic: str, *, at: int) -> Seen:
        """Who leads, and who is in sync."""
        with self.client(at) as client:
            known = await leadership(client, TopicPartition(topic, 0), timeout_s=5.0)
        self.notes[label] = (known.leader, tuple(sorted(known.isr)))
        return self.notes[label]

    async def together(self, *asked: Any) -> None:
        """Several at the same time."""
        await asyncio.gather(*asked)
