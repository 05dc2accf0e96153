"""A simulated cluster with tiered storage, and clients that look at all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from kio.schema.list_offsets.v11 import request as list_offsets_v11
from kio.static.primitive import i8, i32, i32Timedelta, i64

from harness.clients.admin import Leadership, create_topic, leadership
from harness.clients.operations import TopicPartition, delete_records, fetch, list_offsets, produce
from harness.clients.raw import RawClient
from harness.clients.topic_admin import alter_configs
from harness.deployments.plan import DeploymentPlan, broker_name
from harness.deployments.simulated_cluster import SimulatedCluster
from harness.simulation.levers import SimLevers
from harness.simulation.simulation import Simulation
from reference_impl.broker.tiered_storage import tiered_storage
from reference_impl.log.log import Log
from reference_impl.partitions.catalog import Storage, StorageContext
from reference_impl.tiered.extension import TieredExtension
from reference_impl.tiered.manager import RemoteLogManager
from reference_impl.tiered.memory_metadata import MemoryMetadataManager, MemoryMetadataRegistry
from reference_impl.tiered.segments import RemoteLogSegmentMetadata, TopicIdPartition

TOPIC = "orders"
TP = TopicPartition(TOPIC, 0)
SETTINGS = {
    "remote.log.storage.system.enable": "true",
    "rlmm.config.remote.log.metadata.topic.num.partitions": "3",
    "remote.log.manager.task.interval.ms": "1000",
    "log.retention.check.interval.ms": "1000",
    "broker.session.timeout.ms": "1500",
    "broker.heartbeat.interval.ms": "300",
    "replica.lag.time.max.ms": "2000",
    "replica.fetch.wait.max.ms": "100",
    "replica.fetch.backoff.ms": "100",
    "log.retention.ms": "-1",
}
# Every batch has an index entry, and there is room for two: each segment has two batches.
TINY_SEGMENTS = {
    "index.interval.bytes": "1",
    "segment.index.bytes": "24",
    "remote.storage.enable": "true",
    "local.retention.bytes": "1",
    "retention.bytes": "-1",
}


class TieredCluster:
    """Three brokers, with metadata on the internal topic, or in a ``registry`` in memory."""

    def __init__(
        self,
        sim: Simulation,
        settings: Mapping[str, str] | None = None,
        *,
        in_memory: bool = False,
    ) -> None:
        self.sim = sim
        self.levers = SimLevers(sim)
        self.registry = MemoryMetadataRegistry() if in_memory else None
        self.managers: dict[int, RemoteLogManager] = {}
        plan = DeploymentPlan(brokers=3, properties={**SETTINGS, **(settings or {})})
        self.cluster = SimulatedCluster(sim, plan, storages=[self._made])
        self.cluster.settle()
        self.sent = 0

    def _made(self, context: StorageContext) -> Storage:
        def make_metadata(context: StorageContext) -> MemoryMetadataManager:
            assert self.registry is not None
            return MemoryMetadataManager(self.registry, broker_id=context.broker_id)

        made = tiered_storage(context, make_metadata=make_metadata if self.registry else None)
        assert isinstance(made, RemoteLogManager)
        self.managers[context.broker_id] = made
        return made

    def wait(self, reached: Callable[[], bool], within_s: float = 20.0) -> None:
        """Let time pass until that is so."""
        until_ns = self.sim.now_ns + int(within_s * 1e9)
        while not reached():
            assert self.sim.now_ns < until_ns, "it did not come to pass"
            self.sim.advance(0.1)

    # ── clients ──────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def client(self, broker: int) -> Iterator[RawClient]:
        client = RawClient(self.sim.lab, self.cluster.address(broker))
        try:
            yield client
        finally:
            client.abort()

    def create(self, replicas: Sequence[int] = (1, 2, 3), **configs: str) -> None:
        named = {name.replace("_", "."): value for name, value in configs.items()}
        with self.client(1) as client:
            self.sim.run(
                create_topic(
                    client,
                    TOPIC,
                    assignments=[list(replicas)],
                    configs={**TINY_SEGMENTS, **named},
                )
            )
        self.sim.advance(2)

    def configure(self, **configs: str) -> None:
        named = {name.replace("_", "."): value for name, value in configs.items()}
        with self.client(self.leader()) as client:
            outcome = self.sim.run(alter_configs(client, TOPIC, named))
        assert outcome.fields["error"] == 0

    def send(self, count: int, *, at: int | None = None) -> None:
        """Records m0, m1, … in a batch each; every one is acknowledged by all in sync."""
        for _ in range(count):
            with self.client(at or self.leader()) as client:
                outcome = self.sim.run(
                    produce(client, TP, records=[(f"m{self.sent}", self.sim.now_ms)], acks=-1)
                )
            assert outcome.fields["error"] == 0, outcome
            self.sent += 1

    def read(self, offset: int, *, at: int, wait_ms: int = 100) -> tuple[int, list[str]]:
        """The error, and the values from an offset on."""
        with self.client(at) as client:
            outcome = self.sim.run(
                fetch(
                    client, TP, offset=offset, max_wait_ms=wait_ms, max_bytes=1 << 20, timeout_s=30
                )
            )
        said = outcome.fields
        return said["error"], [one[1] for one in said.get("records", [])]

    def scan(self, *, at: int, start: int = 0) -> list[str]:
        """Everything from an offset to the end, in as many fetches as it takes."""
        found: list[str] = []
        while start + len(found) < self.sent:
            error, values = self.read(start + len(found), at=at)
            assert error == 0, (error, start + len(found))
            assert values, start + len(found)
            found += values
        return found

    def listed(self, timestamp: int, *, at: int | None = None) -> int:
        with self.client(at or self.leader()) as client:
            outcome = self.sim.run(list_offsets(client, TP, timestamp=timestamp))
        assert outcome.fields["error"] == 0, outcome
        return int(outcome.fields["offset"])

    def special(self, timestamp: int) -> tuple[int, int, int]:
        """Error, offset and epoch of a timestamp that only the newest version may ask for."""
        v = list_offsets_v11
        one = v.ListOffsetsPartition(
            partition_index=i32(0), current_leader_epoch=i32(-1), timestamp=i64(timestamp)
        )
        named = v.ListOffsetsTopic(name=TOPIC, partitions=(one,))  # type: ignore[arg-type]
        request = v.ListOffsetsRequest(
            replica_id=i32(-1),  # type: ignore[arg-type]
            isolation_level=i8(0),
            topics=(named,),
            timeout=i32Timedelta.parse(timedelta(seconds=5)),
        )
        with self.client(self.leader()) as client:
            answer = self.sim.run(client.ask(request, timeout_s=5.0))
        said = answer.topics[0].partitions[0]
        return int(said.error_code), said.offset, said.leader_epoch

    def delete_records(self, before: int) -> int:
        with self.client(self.leader()) as client:
            outcome = self.sim.run(delete_records(client, TP, offset=before))
        return int(outcome.fields["error"])

    def leader(self) -> int:
        return self._leadership().leader

    def in_sync(self) -> tuple[int, ...]:
        return tuple(sorted(self._leadership().isr))

    def _leadership(self) -> Leadership:
        up = [one for one in (1, 2, 3) if self.sim.nodes[broker_name(one)].up]
        with self.client(up[-1]) as client:
            return self.sim.run(leadership(client, TP, timeout_s=5.0))

    # ── what there is ────────────────────────────────────────────────────────────────────────────

    def extension(self, broker: int) -> TieredExtension:
        found = [one for one in self.managers[broker]._here.values() if one.id.topic == TOPIC]
        return found[0]

    def log(self, broker: int) -> Log:
        log = self.extension(broker).log
        assert log is not None
        return log

    def id(self) -> TopicIdPartition:
        return self.extension(self.leader()).id

    def segments(self) -> tuple[RemoteLogSegmentMetadata, ...]:
        """As the leader's metadata manager has them."""
        manager: Any = self.managers[self.leader()]
        found: tuple[RemoteLogSegmentMetadata, ...] = (
            manager._tier.metadata.list_remote_log_segments(self.id())
        )
        return found

    def objects(self) -> dict[str, list[str]]:
        """The parts in the store, by the id of their copy."""
        found: dict[str, list[str]] = {}
        for one in self.sim.run(self.sim.store.list()):
            *_, copy, part = one.key.split("/")
            found.setdefault(copy[21:], []).append(part)
        return found

    def at_rest(self) -> None:
        """No object without metadata, no metadata without object."""
        known = {str(one.segment_id.id) for one in self.segments()}
        assert set(self.objects()) == known
