"""The controller: decide, write, sync, apply, answer; one change at a time.

A request is decided on the image as it is when its turn comes. What it changes is in the log and
synced before it is in the image, and in the image before anybody is answered: an answer that was
given survives everything but the loss of the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from reference_impl.controller import (
    brokers,
    config_changes,
    directories,
    elections,
    producer_ids,
    reassignments,
    topic_deletion,
    topics,
)
from reference_impl.controller.cluster import Cluster, Outcome
from reference_impl.controller.metadata_log import LEADER_EPOCH, MetadataLog
from reference_impl.kafka import apis
from reference_impl.kafka.apis import Answered, AnyApi, Api, Asked
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.limits import Limits
from reference_impl.kafka.room import Room
from reference_impl.kafka.server import Context, Handler, serve
from reference_impl.metadata.effective import topic_value
from reference_impl.metadata.records import BrokerChanged, ConfigSet, MetadataRecord, ResourceType
from reference_impl.metrics.brokers import measure_controller
from reference_impl.metrics.endpoint import MetricsEndpoint, MetricsSettings
from reference_impl.metrics.registry import Registry
from reference_impl.metrics.requests import RequestMeters
from reference_impl.ports import Address, Connection, Ports
from reference_impl.ports.log_lines import Lines, NodeLog

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchRequest, FetchResponse

METADATA_TOPIC_ID = UUID(int=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings:
    """Who it is and where it listens; everything else by Kafka's property names.

    Setting ``stop`` ends it in good order. ``announce`` is told once where it listens.
    """

    node_id: int
    cluster_id: str
    listen: Address
    properties: Mapping[str, str] = field(default_factory=dict)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    announce: Callable[[Address], None] | None = None
    metrics: MetricsSettings = field(default_factory=MetricsSettings)


Flow: TypeAlias = Callable[[Cluster, Asked], Outcome[Answered]]
AnyFlow: TypeAlias = Flow[Any, Any]


def _flow(api: Api[Asked, Answered], flow: Flow[Asked, Answered]) -> tuple[AnyApi, AnyFlow]:
    """A row of the table: a flow that takes this API's requests and has its responses."""
    return api, flow


FLOWS: Mapping[AnyApi, AnyFlow] = dict(
    (
        _flow(apis.BROKER_REGISTRATION, brokers.register),
        _flow(apis.BROKER_HEARTBEAT, brokers.heartbeat),
        _flow(apis.UNREGISTER_BROKER, brokers.unregister),
        _flow(apis.CREATE_TOPICS, topics.create_topics),
        _flow(apis.CREATE_PARTITIONS, topics.create_partitions),
        _flow(apis.DELETE_TOPICS, topic_deletion.delete_topics),
        _flow(apis.ALTER_CONFIGS, config_changes.alter_configs),
        _flow(apis.INCREMENTAL_ALTER_CONFIGS, config_changes.incremental_alter_configs),
        _flow(apis.ELECT_LEADERS, elections.elect_leaders),
        _flow(apis.ALTER_PARTITION, elections.alter_partition),
        _flow(apis.ASSIGN_REPLICAS_TO_DIRS, directories.assign_replicas_to_dirs),
        _flow(apis.ALTER_PARTITION_REASSIGNMENTS, reassignments.alter_partition_reassignments),
        _flow(apis.LIST_PARTITION_REASSIGNMENTS, reassignments.list_partition_reassignments),
        _flow(apis.ALLOCATE_PRODUCER_IDS, producer_ids.allocate_producer_ids),
    )
)


class Controller:
    """The image, the log it comes from, and those who wait for it to grow."""

    def __init__(self, cluster: Cluster, log: MetadataLog, lines: NodeLog) -> None:
        self.cluster = cluster
        self._log = log
        self._lines = lines
        self._turn = asyncio.Lock()
        self._grown = asyncio.Event()

    async def recover(self) -> None:
        """Read the log from its beginning; a new cluster is given its first records."""
        async for record in self._log.replay():
            self.cluster.apply(record)
        if self.cluster.next_offset == 0:
            await self._write([_first_min_isr(self.cluster)])
        brokers.begin_sessions(self.cluster)

    async def change(self, flow: Flow[Asked, Answered], request: Asked) -> Answered:
        """Carry out a request when its turn comes."""
        async with self._turn:
            outcome = flow(self.cluster, request)
            await self._write(outcome.records)
            outcome.written()
            return outcome.answer

    async def _write(self, records: Sequence[MetadataRecord]) -> None:
        if not records:
            return
        await self._log.append(records)
        for record in records:
            self.cluster.apply(record)
            if isinstance(record, BrokerChanged) and record.fenced is not None:
                line = Lines.FENCED if record.fenced else Lines.UNFENCED
                self._lines(line, broker=record.broker_id, epoch=record.broker_epoch)
        self._grown.set()
        self._grown = asyncio.Event()

    async def fence_stale_brokers(self) -> None:
        """Fence brokers whose sessions are over, one change each."""
        while True:
            async with self._turn:
                stale = brokers.stale_broker(self.cluster)
                if stale is None:
                    return
                await self._write(brokers.fenced(self.cluster, stale))
                self.cluster.session(stale).contact_ns = None

    async def balance(self) -> None:
        """Give leadership back to preferred replicas that are in sync again."""
        async with self._turn:
            await self._write(elections.balanced(self.cluster))

    async def elect_uncleanly(self) -> None:
        """Give partitions without a leader one, where the topic accepts losses."""
        async with self._turn:
            await self._write(elections.unclean_elections(self.cluster))

    async def fetch(self, context: Context, request: FetchRequest) -> FetchResponse:
        """Fetch of the metadata log: waits, if it may, for something to be there."""
        response = apis.FETCH.response
        answer = response()
        for topic in request.topics:
            known = topic.topic_id == METADATA_TOPIC_ID
            partitions = [
                await self._fetched(request, asked)
                if known and asked.partition == 0
                else response.PartitionData(
                    partition_index=asked.partition, error_code=ErrorCode.unknown_topic_id
                )
                for asked in topic.partitions
            ]
            answer.responses.append(
                response.FetchableTopicResponse(topic_id=topic.topic_id, partitions=partitions)
            )
        return answer

    async def _fetched(
        self, request: FetchRequest, asked: FetchRequest.FetchPartition
    ) -> FetchResponse.PartitionData:
        offset = asked.fetch_offset
        if offset == self.cluster.next_offset and request.max_wait_ms > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(request.max_wait_ms / 1000):
                    await self._grown.wait()
        end = self.cluster.next_offset
        data = apis.FETCH.response.PartitionData(
            partition_index=asked.partition,
            high_watermark=end,
            last_stable_offset=end,
            log_start_offset=0,
            current_leader=apis.FETCH.response.LeaderIdAndEpoch(
                leader_id=self.cluster.node_id, leader_epoch=LEADER_EPOCH
            ),
        )
        if 0 <= offset < end:
            most = min(asked.partition_max_bytes, request.max_bytes)
            data.records = await self._log.read(offset, max_bytes=most)
        elif offset != end:
            data.error_code = ErrorCode.offset_out_of_range
        return data

    def handlers(self) -> dict[AnyApi, Handler]:
        """What the controller answers."""
        handlers: dict[AnyApi, Handler] = {api: self._handler(FLOWS[api]) for api in FLOWS}
        handlers[apis.FETCH] = self.fetch
        return handlers

    def _handler(self, flow: Flow[Asked, Answered]) -> Handler:
        async def handle(context: Context, request: Asked) -> Answered:
            return await self.change(flow, request)

        return handle


def _first_min_isr(cluster: Cluster) -> ConfigSet:
    """The whole cluster has one ``min.insync.replicas`` from the start, as KIP-966 needs it."""
    value = topic_value(cluster.image, cluster.layers(), "", config_changes.MIN_ISR)
    return ConfigSet(
        resource_type=ResourceType.BROKER,
        resource_name="",
        key=config_changes.MIN_ISR,
        value=str(value),
    )


async def run_controller(ports: Ports, settings: ControllerSettings) -> None:
    """Be the controller until told to stop."""
    metrics = Registry()
    async with MetricsEndpoint.opened(metrics, ports.network, settings.metrics):
        await _run(ports, settings, metrics)


async def _run(ports: Ports, settings: ControllerSettings, metrics: Registry) -> None:
    cluster = Cluster(
        node_id=settings.node_id,
        cluster_id=settings.cluster_id,
        properties=settings.properties,
        clock=ports.clock,
        rng=ports.rng,
    )
    log = await MetadataLog.open(ports.disk, ports.clock)
    meters = RequestMeters(metrics)
    measure_controller(metrics, cluster.image)
    controller = Controller(cluster, log, ports.log)
    await controller.recover()
    handlers = controller.handlers()
    layers = cluster.layers()
    limits = Limits(room=Room(max_frame_bytes=layers.number("socket.request.max.bytes")))

    async def answer(connection: Connection) -> None:
        await serve(connection, handlers, limits=limits, listener="CONTROLLER", meters=meters)

    listener = await ports.network.listen(settings.listen, answer)
    if settings.announce is not None:
        settings.announce(listener.address)
    session_s = layers.number(brokers.SESSION_TIMEOUT) / 1000
    balance_s = layers.number("leader.imbalance.check.interval.seconds")
    unclean_s = layers.number("unclean.leader.election.interval.ms") / 1000
    chores = [
        _every(ports, session_s / 8, controller.fence_stale_brokers),
        _every(ports, balance_s, controller.balance),
        _every(ports, unclean_s, controller.elect_uncleanly),
    ]
    tasks = [asyncio.get_running_loop().create_task(chore) for chore in chores]
    try:
        await settings.stop.wait()
    finally:
        for task in tasks:
            task.cancel()
    await listener.close()
    await log.close()


async def _every(ports: Ports, seconds: float, chore: Callable[[], Awaitable[None]]) -> None:
    while True:
        await ports.clock.sleep(seconds)
        with contextlib.suppress(KafkaError):  # a log that takes no records now may take them later
            await chore()
