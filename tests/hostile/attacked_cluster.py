"""A simulated cluster of one broker that is attacked, and what it must still be afterwards.

Two topics: nobody names the first to the attackers, the second is their prey. A good client writes
to both before and after. What a broker acknowledged, to whomever, must be there in the end, and in
the good client's topic nothing else may be; also after both nodes were killed and came back.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hostile_messages import NO_TEXT, PREY, PREY_ID

from harness.clients import operations
from harness.clients.admin import create_topic
from harness.clients.operations import TopicPartition
from harness.clients.raw import RawClient
from harness.deployments.plan import CONTROLLER, DeploymentPlan, broker_name
from harness.deployments.simulated_cluster import CONTROLLER_PORT, SimulatedCluster
from harness.simulation.simulation import Simulation
from reference_impl.kafka.apis import API_VERSIONS, FETCH, LIST_OFFSETS, METADATA, PRODUCE
from reference_impl.kafka.batches import HEADER_BYTES, batches
from reference_impl.kafka.batches import header as batch_header
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import WireError
from reference_impl.kafka.frames import Header, read_header
from reference_impl.kafka.message import Message
from reference_impl.kafka.readers import skip_tags
from reference_impl.ports import Address, Connection

GROUND = "ground"
PREY_PARTITIONS = 2
PATIENCE_S = 30.0
SHORT_WAIT_MS = 1000
BROKER = broker_name(1)
# Whatever became the cluster's default, a topic that says so itself takes records.
OF_ITS_OWN = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "max.message.bytes": "1048588",
    "min.insync.replicas": "1",
    "message.timestamp.type": "CreateTime",
    "message.timestamp.before.max.ms": "9223372036854775807",
    "retention.ms": "-1",
    "retention.bytes": "-1",
}


class Closed(Exception):
    """The broker hung up."""


class Silent(Exception):
    """No answer for longer than anybody asked it to wait."""


@dataclass(slots=True)
class AttackedCluster:
    """One broker, one controller, a good client, and the book of what was acknowledged."""

    sim: Simulation
    cluster: SimulatedCluster
    prey_id: uuid.UUID = PREY_ID
    good_values: list[str] = field(default_factory=list)
    # By partition of the prey: base offset, and the bytes behind the header of what is there.
    acknowledged: dict[tuple[int, int], bytes] = field(default_factory=dict)
    answered: int = 0
    closed: int = 0

    # ── the attack ───────────────────────────────────────────────────────────────────────────────

    def attack(self, frames: Iterable[bytes], *, controller: bool = False) -> None:
        """Send these, each when the one before is answered or has cost its connection."""
        self.sim.run(self._attack(list(frames), controller))

    async def _attack(self, frames: list[bytes], controller: bool) -> None:
        address = Address(CONTROLLER, CONTROLLER_PORT) if controller else self.cluster.address(1)
        connection: Connection | None = None
        for frame in frames:
            if connection is None:
                connection = await self.sim.lab.connect(address)
            try:
                await self._exchange(connection, self._addressed(frame))
            except (Closed, Silent):
                connection.abort()
                connection = None
        if connection is not None:
            connection.abort()

    def _addressed(self, frame: bytes) -> bytes:
        """The frame with what stood for something in its place."""
        frame = frame.replace(PREY_ID.bytes, self.prey_id.bytes)
        return frame.replace(NO_TEXT.encode(), b"\xff\xff")

    async def _exchange(self, connection: Connection, frame: bytes) -> None:
        """Every request gets an answer that can be read, or costs its connection."""
        header, request = understood(frame)
        try:
            await connection.send(frame)
            if request is not None and header is not None and unanswered(header, request):
                return  # whether that cost the connection is seen at the next request
            async with asyncio.timeout(PATIENCE_S):
                (size,) = struct.unpack(">i", await connection.read_exactly(4))
                answer = await connection.read_exactly(size)
        except TimeoutError:
            if request is None or not waits_long(request):
                raise AssertionError(f"no answer to {header} {request}") from None
            raise Silent from None
        except ConnectionError:
            self.closed += 1
            raise Closed from None
        assert header is not None, f"an answer to {frame!r}"
        response = decoded(header, answer)
        self.answered += 1
        if header.api is PRODUCE and request is not None:
            self._note(request, response)

    def _note(self, request: Message, response: Message) -> None:
        """Write down what a produce was promised."""
        asked = [
            (topic, data)
            for topic in request.topic_data
            if topic.topic_id == self.prey_id or topic.name == PREY
            for data in topic.partition_data
        ]
        told = [
            one
            for topic in response.responses
            if topic.topic_id == self.prey_id or topic.name == PREY
            for one in topic.partition_responses
        ]
        assert [data.index for _, data in asked] == [one.index for one in told]
        for (_, data), one in zip(asked, told, strict=True):
            if one.error_code == 0:
                # What follows the batch is cut off. A repetition, by its number, of an earlier
                # batch is answered with the place of that one, whatever it holds itself.
                payload = data.records[HEADER_BYTES : batch_header(data.records).size]
                self.acknowledged.setdefault((one.index, one.base_offset), payload)

    # ── the good client ──────────────────────────────────────────────────────────────────────────

    def write(self, value: str) -> None:
        """Add a record to the good client's topic and one to each partition of the prey."""
        self.sim.run(self._write(value))

    async def _write(self, value: str) -> None:
        client = RawClient(self.sim.lab, self.cluster.address(1), "good")
        said = {"records": [(value, 0)], "acks": -1, "timeout_s": PATIENCE_S}
        ground = await operations.produce(client, TopicPartition(GROUND, 0), **said)  # type: ignore[arg-type]
        assert ground.type == "ok", ground
        self.good_values.append(value)
        payload = operations.batch_of([(value, 0)])[HEADER_BYTES:]
        for partition in range(PREY_PARTITIONS):
            done = await operations.produce(client, TopicPartition(PREY, partition), **said)  # type: ignore[arg-type]
            assert done.type == "ok", done
            self.acknowledged[partition, done.fields["offset"]] = payload
        client.abort()

    def check_everything_is_there(self) -> None:
        """The good client reads its own records and no others; the prey has what it promised."""
        self.sim.run(self._check())

    async def _check(self) -> None:
        client = RawClient(self.sim.lab, self.cluster.address(1), "good")
        found = await operations.fetch(
            client, TopicPartition(GROUND, 0), offset=0, timeout_s=PATIENCE_S
        )
        client.abort()
        assert [one[1] for one in found.fields["records"]] == self.good_values
        peer = Peer(self.sim.lab, self.cluster.address(1), "good")
        for partition in range(PREY_PARTITIONS):
            await self._check_prey(peer, partition)
        peer.abort()

    async def _check_prey(self, peer: Peer, partition: int) -> None:
        start, kept = await read_partition(peer, PREY, partition)
        for (index, offset), payload in self.acknowledged.items():
            if index == partition and offset >= start:
                assert kept.get(offset) == payload, (partition, offset)

    def use_new_topic(self) -> None:
        """Create a topic with configurations of its own, write to it and read from it."""
        self.sim.run(self._use_new_topic())

    async def _use_new_topic(self) -> None:
        client = RawClient(self.sim.lab, self.cluster.address(1), "good")
        tp = TopicPartition("untouched", 0)
        await create_topic(client, tp.topic, assignments=[[1]], configs=OF_ITS_OWN)
        written = await operations.produce(
            client, tp, records=[("well", 0)], acks=-1, timeout_s=PATIENCE_S
        )
        assert written.type == "ok", written
        found = await operations.fetch(client, tp, offset=0, timeout_s=PATIENCE_S)
        assert [one[:2] for one in found.fields["records"]] == [[0, "well"]]
        client.abort()

    def restart(self) -> None:
        """kill -9 for both, and again."""
        for name in (BROKER, CONTROLLER):
            if self.sim.nodes[name].up:
                self.sim.kill(name)
        for name in (CONTROLLER, BROKER):
            self.sim.start(name)
        self.cluster.settle()


@contextlib.contextmanager
def attacked_cluster(seed: int = 1) -> Iterator[AttackedCluster]:
    """A cluster with both topics in it and a first good record."""
    with Simulation(seed=seed) as sim:
        cluster = SimulatedCluster(sim, DeploymentPlan(brokers=1))
        cluster.settle()
        attacked = AttackedCluster(sim=sim, cluster=cluster)

        async def topics() -> uuid.UUID:
            client = RawClient(sim.lab, cluster.address(1), "good")
            await create_topic(client, GROUND, partitions=1, replication_factor=1)
            await create_topic(client, PREY, partitions=PREY_PARTITIONS, replication_factor=1)
            client.abort()
            peer = Peer(sim.lab, cluster.address(1), "good")
            asked = METADATA.request(topics=[METADATA.request.MetadataRequestTopic(name=PREY)])
            answer = await peer.ask(METADATA, 12, asked, timeout_s=PATIENCE_S)
            peer.abort()
            found: uuid.UUID = answer.topics[0].topic_id
            return found

        attacked.prey_id = sim.run(topics())
        attacked.write("before")
        yield attacked


def understood(frame: bytes) -> tuple[Header | None, Message | None]:
    """What a broker can make of a frame: nothing, a header alone, or a request."""
    try:
        header = read_header(frame[4:])
        if not header.supported:
            return (header if header.api is API_VERSIONS else None), None
        return header, header.api.requests.read(frame[4:], header.version, header.body_at)[0]
    except WireError:
        return None, None


def unanswered(header: Header, request: Message) -> bool:
    """Whether it asks for no answer."""
    return header.api is PRODUCE and request.acks == 0


def waits_long(request: Message) -> bool:
    """Whether it asks for more patience than we have."""
    return getattr(request, "max_wait_ms", 0) > SHORT_WAIT_MS


def decoded(header: Header, answer: bytes) -> Message:
    """An answer, which must be one."""
    (number,) = struct.unpack_from(">i", answer)
    assert number == header.correlation_id
    version = header.version if header.supported else 0
    at = 4
    if header.api.responses.header_version(version):
        at = skip_tags(answer, at, [])
    return header.api.responses.decode(answer, version, at)


async def read_partition(peer: Peer, topic: str, partition: int) -> tuple[int, dict[int, bytes]]:
    """Where a log starts, and what stands behind the header of each of its batches, by offset."""
    offset = await listed(peer, topic, partition, -2)
    end = await listed(peer, topic, partition, -1)
    start = offset
    kept: dict[int, bytes] = {}
    while offset < end:
        one = FETCH.request.FetchPartition(
            partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20
        )
        asked = FETCH.request(
            replica_id=-1,
            max_bytes=1 << 20,
            session_epoch=-1,
            topics=[FETCH.request.FetchTopic(topic=topic, partitions=[one])],
        )
        answer = await peer.ask(FETCH, 12, asked, timeout_s=PATIENCE_S)
        (data,) = answer.responses[0].partitions
        assert (data.error_code, bool(data.records)) == (0, True)
        for at, batch in batches(data.records):
            assert kept == {} or batch.base_offset == offset, "a gap"
            kept[batch.base_offset] = bytes(data.records[at + HEADER_BYTES : at + batch.size])
            offset = batch.next_offset
    return start, kept


async def listed(peer: Peer, topic: str, partition: int, timestamp: int) -> int:
    """The earliest offset (-2) or the latest (-1)."""
    request = LIST_OFFSETS.request
    one = request.ListOffsetsPartition(
        partition_index=partition, timestamp=timestamp, current_leader_epoch=-1
    )
    asked = request(replica_id=-1, topics=[request.ListOffsetsTopic(name=topic, partitions=[one])])
    answer = await peer.ask(LIST_OFFSETS, 5, asked, timeout_s=PATIENCE_S)
    found = answer.topics[0].partitions[0]
    assert found.error_code == 0, found
    return int(found.offset)
