"""The life of a broker.

    read checkpoints ► listen ► register ► follow the metadata ► heartbeats ► unfenced: ready
    stop: ask the controller for leave ► no partition led any more ► close the logs ► gone

It listens before it registers, since the port it tells the controller is the one it got. Requests
that come before it knows the cluster wait until it does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial

from reference_impl.broker import (
    cluster_api,
    configs_api,
    find_coordinator,
    metadata_api,
    offset_fetch,
    offsets_api,
    transactions_api,
)
from reference_impl.broker.answering import Answering, answering
from reference_impl.broker.describe_producers import describe_producers
from reference_impl.broker.events import BrokerEvents
from reference_impl.broker.fetch import Fetches
from reference_impl.broker.lifecycle import keep_alive, register
from reference_impl.broker.list_offsets import list_offsets
from reference_impl.broker.logs_api import (
    delete_records,
    describe_log_dirs,
    offset_for_leader_epoch,
)
from reference_impl.broker.metadata_follower import follow_metadata
from reference_impl.broker.metered import MeteredFetches
from reference_impl.broker.node import Node
from reference_impl.broker.produce import produce
from reference_impl.broker.settings import BrokerSettings
from reference_impl.broker.tiered_storage import configured_storages
from reference_impl.broker.transactional_produce import TransactionVerifier
from reference_impl.kafka import apis
from reference_impl.kafka.api_versions import api_versions_handler
from reference_impl.kafka.client import Peer
from reference_impl.kafka.limits import Limits
from reference_impl.kafka.room import Room
from reference_impl.kafka.server import Handler, serve
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.metadata.image import Image
from reference_impl.metrics.endpoint import MetricsEndpoint
from reference_impl.metrics.registry import Registry
from reference_impl.metrics.requests import RequestMeters
from reference_impl.partitions.catalog import (
    Partitions,
    Storage,
    StorageContext,
    StorageFactory,
    kept_elsewhere,
)
from reference_impl.ports import Address, Connection, Ports
from reference_impl.ports.log_lines import Lines
from reference_impl.replication.fetcher import FetcherSettings
from reference_impl.replication.manager import ReplicaManager, ReplicationSettings


async def run_broker(
    ports: Ports, settings: BrokerSettings, *, storages: Sequence[StorageFactory] | None = None
) -> None:
    """Be a broker until told to stop.

    ``storages`` are kept beside the logs on its disk; if none are given, those that it is
    configured to have.
    """
    node = _node(
        ports,
        settings,
        configured_storages(settings.properties) if storages is None else storages,
    )
    async with MetricsEndpoint.opened(node.metrics, ports.network, settings.metrics):
        await _run(node, ports, settings)


async def _run(node: Node, ports: Ports, settings: BrokerSettings) -> None:
    handlers = _handlers(node)
    meters = RequestMeters(node.metrics)
    limits = Limits(
        idle_s=node.layers.number("connections.max.idle.ms") / 1000,
        room=Room(max_frame_bytes=node.layers.number("socket.request.max.bytes")),
    )

    async def answer(connection: Connection) -> None:
        await serve(connection, handlers, limits=limits, meters=meters)

    await node.replicas.start()
    listener = await ports.network.listen(settings.listen, answer)
    node.listening = listener.address
    place = _place(settings, listener.address)
    # Not one for all: a heartbeat must not wait behind a request that somebody handed on.
    called = f"broker-{settings.node_id}"
    metadata_peer = Peer(ports.network, settings.controller, f"{called}-metadata")
    heartbeat_peer = Peer(ports.network, settings.controller, f"{called}-heartbeat")
    running: list[asyncio.Task[None]] = []
    clean = False
    try:
        await register(node, heartbeat_peer, place)
        running.append(_begin(follow_metadata(node, metadata_peer)))
        living = _begin(keep_alive(node, heartbeat_peer, place))
        running += [living, _begin(_announce(node, place, listener.address))]
        running += [*node.replicas.background, _begin(node.transactions.run())]
        running.append(_begin(node.offsets.run()))
        await _first_of(living, running)
        ports.log(Lines.STOPPING)
        clean = True
    finally:
        await listener.close()
        node.offsets.close()
        for task in running:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            for task in running:
                await task
        await node.partitions.stop(clean=clean)
        if clean:
            await node.replicas.stop(clean=True, caught_up=node.unfenced.is_set())
            for peer in (node.controller, metadata_peer, heartbeat_peer):
                await peer.close()
            ports.log(Lines.STOPPED)


def _place(settings: BrokerSettings, listening: Address) -> Address:
    """Where clients find it; port 0 stands for the one it got."""
    place = settings.advertised or Address(settings.listen.host, 0)
    return Address(place.host, place.port or listening.port)


async def _announce(node: Node, place: Address, listening: Address) -> None:
    await node.unfenced.wait()
    node.ports.log(Lines.READY, epoch=node.broker_epoch)
    if node.settings.announce is not None:
        node.settings.announce(place, listening)


async def _first_of(living: asyncio.Task[None], running: list[asyncio.Task[None]]) -> None:
    """Return when ``living`` has ended; a failure of any other is a failure of the broker."""

    def fell(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            living.cancel()

    for task in running:
        if task is not living:
            task.add_done_callback(fell)
    try:
        await living
    except asyncio.CancelledError:
        for task in running:
            error = None if task.cancelled() or not task.done() else task.exception()
            if error is not None:
                raise error from None
        raise


def _begin(work: Coroutine[None, None, None]) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(work)


def _storages(
    ports: Ports,
    settings: BrokerSettings,
    image: Image,
    metrics: Registry,
    factories: Sequence[StorageFactory],
    listening: Callable[[], Address],
    checkpoint: Callable[[], Awaitable[None]],
) -> list[Storage]:
    context = StorageContext(
        ports=ports,
        broker_id=settings.node_id,
        cluster_id=settings.cluster_id,
        log_dir=settings.log_dir,
        image=image,
        layers=lambda: BrokerLayers.of(image, settings.node_id, settings.properties),
        metrics=metrics,
        listening=listening,
        checkpoint=checkpoint,
    )
    return [make(context) for make in factories]


def _node(ports: Ports, settings: BrokerSettings, factories: Sequence[StorageFactory]) -> Node:
    image, metrics = Image(), Registry()
    storages = _storages(
        ports,
        settings,
        image,
        metrics,
        factories,
        lambda: node.listening,
        lambda: node.replicas.write_checkpoints(),
    )
    controller = Peer(ports.network, settings.controller, f"broker-{settings.node_id}")
    layers = BrokerLayers.of(image, settings.node_id, settings.properties)
    node: Node
    events = BrokerEvents(ports.log)
    replicas = ReplicaManager(
        ports=ports,
        image=image,
        settings=_replication_settings(settings.node_id, layers.number),
        controller=Peer(ports.network, settings.controller, f"broker-{settings.node_id}-isr"),
        broker_epoch=lambda: node.broker_epoch,
        layers=lambda: node.layers,
        elsewhere=kept_elsewhere(storages, image),
        events=events,
    )
    node = Node(
        settings=settings,
        ports=ports,
        image=image,
        metrics=metrics,
        controller=controller,
        replicas=replicas,
        partitions=Partitions(
            image=image,
            broker_id=settings.node_id,
            replicas=replicas,
            ports=ports,
            storages=storages,
        ),
    )
    events.meters = node.meters
    return node


def _replication_settings(broker_id: int, number: Callable[[str], int]) -> ReplicationSettings:
    return ReplicationSettings(
        broker_id=broker_id,
        max_lag_ms=number("replica.lag.time.max.ms"),
        checkpoint_interval_ms=number("replica.high.watermark.checkpoint.interval.ms"),
        retention_check_interval_ms=number("log.retention.check.interval.ms"),
        producer_check_interval_ms=number("producer.id.expiration.check.interval.ms"),
        flush_check_interval_ms=number("log.flush.scheduler.interval.ms"),
        fetcher=FetcherSettings(
            broker_id=broker_id,
            max_wait_ms=number("replica.fetch.wait.max.ms"),
            min_bytes=number("replica.fetch.min.bytes"),
            max_bytes=number("replica.fetch.response.max.bytes"),
            partition_max_bytes=number("replica.fetch.max.bytes"),
            backoff_ms=number("replica.fetch.backoff.ms"),
            timeout_ms=number("replica.socket.timeout.ms"),
        ),
    )


ANSWERING: dict[apis.AnyApi, Answering] = dict(
    (
        answering(apis.LIST_OFFSETS, list_offsets),
        answering(apis.OFFSET_FOR_LEADER_EPOCH, offset_for_leader_epoch),
        answering(apis.DELETE_RECORDS, delete_records),
        answering(apis.DESCRIBE_LOG_DIRS, describe_log_dirs),
        answering(apis.DESCRIBE_PRODUCERS, describe_producers),
        *metadata_api.HANDLERS,
        *configs_api.HANDLERS,
        *cluster_api.HANDLERS,
        *find_coordinator.HANDLERS,
        *transactions_api.HANDLERS,
        *offset_fetch.HANDLERS,
        *offsets_api.HANDLERS,
    )
)


def _handlers(node: Node) -> dict[apis.AnyApi, Handler]:
    fetches = MeteredFetches(Fetches(node), node.image, node.meters.bytes_out)
    verifier = TransactionVerifier(node)
    handlers: dict[apis.AnyApi, Handler] = {
        apis.FETCH: fetches,
        apis.PRODUCE: partial(produce, node, verifier),
        apis.TXN_OFFSET_COMMIT: partial(offsets_api.txn_offset_commit, node, verifier),
    }
    for api, handler in ANSWERING.items():
        handlers[api] = partial(handler, node)
    handlers[apis.API_VERSIONS] = api_versions_handler(handlers, lambda: cluster_api.features(node))
    return handlers
