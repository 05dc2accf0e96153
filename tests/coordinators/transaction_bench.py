"""A simulated cluster, and transactional producers and readers that talk to it in Kafka's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.clients.admin import create_topic
from harness.clients.raw import RawClient
from harness.deployments.plan import DeploymentPlan, broker_name
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.simulation.simulation import Simulation
from reference_impl.kafka import apis
from reference_impl.kafka.batches import batches
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.records import build_batch, records

SETTINGS = {
    "transaction.state.log.num.partitions": "3",
    "offsets.topic.num.partitions": "3",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    "replica.lag.time.max.ms": "2000",
    "broker.session.timeout.ms": "3000",
}
TOPIC = "t"


class Cluster:
    """Three brokers; ``TOPIC`` has two partitions, led by brokers 1 and 2."""

    def __init__(
        self,
        sim: Simulation,
        settings: Mapping[str, str] | None = None,
        *,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        self.sim = sim
        properties = {**SETTINGS, **(settings or {})}
        plan = DeploymentPlan(brokers=3, racks=("a", "b", "c"), properties=properties)
        self.cluster = SimulatedCluster(sim, plan)
        self.cluster.settle()
        client = RawClient(sim.lab, self.cluster.address(1))
        placed = [[1, 2, 3], [2, 3, 1]]
        sim.run(create_topic(client, TOPIC, assignments=placed, configs=dict(configs or {})))
        client.abort()
        sim.advance(2)

    def ask(self, broker: int, api: Any, version: int, message: Any) -> Any:
        """One request on a connection of its own."""
        peer = Peer(self.sim.lab, self.cluster.address(broker), "test")

        async def asked() -> Any:
            try:
                return await peer.ask(api, version, message, timeout_s=30.0)
            finally:
                peer.abort()

        return self.sim.run(asked())

    def coordinator(self, name: str, *, within: int = 100, key_type: int = 1) -> int:
        """The broker that coordinates a transactional id, or a group (0), once there is one."""
        for attempt in range(within):
            request = apis.FIND_COORDINATOR.request(key_type=key_type, coordinator_keys=[name])
            try:
                answer = self.ask(attempt % 3 + 1, apis.FIND_COORDINATOR, 4, request)
            except ConnectionError:
                continue
            found = answer.coordinators[0]
            if not found.error_code:
                return int(found.node_id)
            self.sim.advance(0.5)
        raise AssertionError(f"no coordinator of {name}")

    def leader(self, index: int) -> int:
        """The broker that leads a partition, as some live broker knows."""
        for broker in (1, 2, 3):
            request = apis.METADATA.request(
                topics=[apis.METADATA.request.MetadataRequestTopic(name=TOPIC)]
            )
            try:
                answer = self.ask(broker, apis.METADATA, 9, request)
            except ConnectionError:
                continue
            for one in answer.topics[0].partitions:
                if one.partition_index == index and one.leader_id >= 0:
                    return int(one.leader_id)
        raise AssertionError(f"nobody leads {index}")

    def listed(self, index: int, timestamp: int) -> int:
        """The offset of a special timestamp."""
        asked = apis.LIST_OFFSETS.request
        part = asked.ListOffsetsPartition(
            partition_index=index, current_leader_epoch=-1, timestamp=timestamp
        )
        request = asked(
            replica_id=-1, topics=[asked.ListOffsetsTopic(name=TOPIC, partitions=[part])]
        )
        answer = self.ask(self.leader(index), apis.LIST_OFFSETS, 9, request)
        return int(answer.topics[0].partitions[0].offset)

    def kill(self, broker: int, *, rest_s: float = 10.0) -> None:
        self.sim.kill(broker_name(broker))
        self.sim.advance(rest_s)

    def read(self, index: int, *, committed: bool = True, at: int | None = None) -> list[str]:
        """What a reader sees: with ``committed``, without what was aborted or is undecided."""
        return [value for _, value in self.rows(index, committed=committed, at=at)]

    def rows(
        self, index: int, *, committed: bool = True, at: int | None = None, start: int = 0
    ) -> list[tuple[int, str]]:
        """The same from some offset on, with offsets."""
        reader, offset = Reader(committed=committed), start
        while True:
            part = apis.FETCH.request.FetchPartition(
                partition=index, fetch_offset=offset, partition_max_bytes=1 << 20
            )
            request = apis.FETCH.request(
                max_wait_ms=1000,
                min_bytes=0,
                max_bytes=1 << 20,
                isolation_level=1 if committed else 0,
                topics=[apis.FETCH.request.FetchTopic(topic=TOPIC, partitions=[part])],
            )
            answer = self.ask(at or self.leader(index), apis.FETCH, 11, request)
            data = answer.responses[0].partitions[0]
            assert not data.error_code, data.error_code
            if not data.records:
                return [row for row in reader.rows if row[0] >= start]
            offset = reader.take(
                data.records,
                [(one.first_offset, one.producer_id) for one in data.aborted_transactions or ()],
            )


class Reader:
    """Hands records on as a client does: no markers, nothing of aborted transactions."""

    def __init__(self, *, committed: bool) -> None:
        self.rows: list[tuple[int, str]] = []  # offset and value
        self._committed = committed
        self._aborted: dict[int, None] = {}  # whose records are left out up to the next marker

    def take(self, data: bytes, aborted: Sequence[tuple[int, int]]) -> int:
        """Read an answer; where to go on."""
        left, after = sorted(aborted) if self._committed else [], 0
        for at, batch in batches(data):
            after = batch.next_offset
            while left and left[0][0] <= batch.last_offset:
                self._aborted[left.pop(0)[1]] = None
            if batch.control:
                self._aborted.pop(batch.producer_id, None)
            elif not (batch.transactional and batch.producer_id in self._aborted):
                self.rows += [
                    (one.offset, (one.value or b"").decode()) for one in records(data, at)
                ]
        return after


class Producer:
    """A transactional producer of the old protocol (1), or of the one that bumps epochs (2)."""

    def __init__(self, cluster: Cluster, transactional_id: str, *, protocol: int = 2) -> None:
        self.cluster = cluster
        self.id = transactional_id
        self.protocol = protocol
        self.producer_id, self.epoch = -1, -1
        self._sequences: dict[int, int] = {}

    def init(self, *, timeout_ms: int = 60_000, patience: int = 40) -> None:
        """Begin, or begin anew; what is open is waited for."""
        for _ in range(patience):
            answer = self.init_once(timeout_ms=timeout_ms)
            if not answer.error_code:
                self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
                self._sequences = {}
                return
            self.cluster.sim.advance(0.2)
        raise AssertionError(ErrorCode(answer.error_code).name)

    def init_once(self, *, timeout_ms: int = 60_000) -> Any:
        request = apis.INIT_PRODUCER_ID.request(
            transactional_id=self.id, transaction_timeout_ms=timeout_ms
        )
        at = self.cluster.coordinator(self.id)
        return self.cluster.ask(at, apis.INIT_PRODUCER_ID, 4, request)

    def add(self, *indexes: int) -> str:
        """Say which partitions are written to, as the old protocol wants it."""
        request = apis.ADD_PARTITIONS_TO_TXN.request(
            v3_and_below_transactional_id=self.id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[
                apis.ADD_PARTITIONS_TO_TXN.request.AddPartitionsToTxnTopic(
                    name=TOPIC, partitions=list(indexes)
                )
            ],
        )
        at = self.cluster.coordinator(self.id)
        answer = self.cluster.ask(at, apis.ADD_PARTITIONS_TO_TXN, 3, request)
        code = answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
        return ErrorCode(code).name

    def send(self, index: int, value: str) -> str:
        """Write one record; how that went."""
        sequence = self._sequences.get(index, 0)
        data = build_batch(
            [(self.cluster.sim.now_ms, None, value.encode())],
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            transactional=True,
        )
        part = apis.PRODUCE.request.PartitionProduceData(index=index, records=data)
        request = apis.PRODUCE.request(
            transactional_id=self.id,
            acks=-1,
            timeout_ms=5000,
            topic_data=[apis.PRODUCE.request.TopicProduceData(name=TOPIC, partition_data=[part])],
        )
        version = 12 if self.protocol == 2 else 9
        answer = self.cluster.ask(self.cluster.leader(index), apis.PRODUCE, version, request)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        if code is ErrorCode.none:
            self._sequences[index] = sequence + 1
        return code.name

    def end(self, *, commit: bool, patience: int = 40) -> str:
        """Commit or abort; what may be tried again is."""
        for _ in range(patience):
            request = apis.END_TXN.request(
                transactional_id=self.id,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                committed=commit,
            )
            version = 5 if self.protocol == 2 else 3
            at = self.cluster.coordinator(self.id)
            try:
                answer = self.cluster.ask(at, apis.END_TXN, version, request)
            except ConnectionError:
                continue
            code = ErrorCode(answer.error_code)
            if code not in RETRIABLE:
                break
            self.cluster.sim.advance(0.2)
        if code is ErrorCode.none and self.protocol == 2:
            if answer.producer_id >= 0:
                self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self._sequences = {}
        return code.name


RETRIABLE = (
    ErrorCode.concurrent_transactions,
    ErrorCode.coordinator_load_in_progress,
    ErrorCode.coordinator_not_available,
    ErrorCode.not_coordinator,
)
