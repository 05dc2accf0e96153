"""A broker and its controller: registering, showing signs of life, leaving in good order."""

from __future__ import annotations

import asyncio
from uuid import UUID

from reference_impl.broker.node import Node
from reference_impl.kafka.apis import BROKER_HEARTBEAT, BROKER_REGISTRATION
from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import ErrorCode
from reference_impl.ports import Address

REGISTRATION_VERSION = 4
HEARTBEAT_VERSION = 1
_RETRY_S = 0.1
_PLAINTEXT = 0


async def register(node: Node, controller: Peer, listening: Address) -> None:
    """Be known to the controller, however long it takes; sets the broker's epoch."""
    incarnation = UUID(bytes=node.ports.rng.randbytes(16), version=4)
    request = BROKER_REGISTRATION.request(
        broker_id=node.settings.node_id,
        cluster_id=node.settings.cluster_id,
        incarnation_id=incarnation,
        listeners=[
            BROKER_REGISTRATION.request.Listener(
                name="PLAINTEXT",
                host=listening.host,
                port=listening.port,
                security_protocol=_PLAINTEXT,
            )
        ],
        rack=node.settings.rack,
        log_dirs=[incarnation],
        previous_broker_epoch=node.replicas.epoch_before,
    )
    timeout_s = node.layers.number("broker.session.timeout.ms") / 1000
    while True:
        try:
            answer = await controller.ask(
                BROKER_REGISTRATION, REGISTRATION_VERSION, request, timeout_s=timeout_s
            )
            if not answer.error_code:
                node.broker_epoch = answer.broker_epoch
                return
        except (ConnectionError, TimeoutError):
            pass
        await node.ports.clock.sleep(_RETRY_S)


async def keep_alive(node: Node, controller: Peer, listening: Address) -> None:
    """Tell the controller again and again that this broker lives, until it may go.

    A request to register from an earlier life may have been under way for long, and be taken for
    the latest; then this life has to register again, or it is fenced for ever.

    Once ``settings.stop`` is set each heartbeat asks for leave; the controller grants it when no
    partition is led from here any more. A controller that cannot be reached then is not waited for
    longer than the session lasts: it will find out by itself.
    """
    interval_s = node.layers.number("broker.heartbeat.interval.ms") / 1000
    timeout_s = node.layers.number("broker.session.timeout.ms") / 1000
    leaving_since: int | None = None
    while True:
        stopping = node.settings.stop.is_set()
        if stopping and leaving_since is None:
            leaving_since = node.ports.clock.monotonic_ns()
        done = await _beat(node, controller, stopping=stopping, timeout_s=timeout_s)
        if done:
            return
        if _overtaken(node) and not stopping:
            await register(node, controller, listening)
        waited_ns = node.ports.clock.monotonic_ns() - (leaving_since or 0)
        if stopping and waited_ns > timeout_s * 1e9:
            return
        waiting = stopping or not node.unfenced.is_set()
        await _pause(node, _RETRY_S if waiting else interval_s)


async def _beat(node: Node, controller: Peer, *, stopping: bool, timeout_s: float) -> bool:
    request = BROKER_HEARTBEAT.request(
        broker_id=node.settings.node_id,
        broker_epoch=node.broker_epoch,
        current_metadata_offset=node.image.offset,
        want_fence=False,
        want_shut_down=stopping,
    )
    try:
        answer = await controller.ask(
            BROKER_HEARTBEAT, HEARTBEAT_VERSION, request, timeout_s=timeout_s
        )
    except (ConnectionError, TimeoutError):
        return False
    if answer.error_code == ErrorCode.stale_broker_epoch:
        return stopping
    if not answer.error_code and not answer.is_fenced:
        node.unfenced.set()
    return bool(answer.should_shut_down)


def _overtaken(node: Node) -> bool:
    """Whether the cluster knows a later life of this broker than the one it lives."""
    known = node.image.brokers.get(node.settings.node_id)
    return known is not None and known.broker_epoch > node.broker_epoch


async def _pause(node: Node, seconds: float) -> None:
    """Until the next heartbeat, or until the broker is told to stop, whichever comes first."""
    if node.settings.stop.is_set():
        await node.ports.clock.sleep(seconds)
        return
    try:
        async with asyncio.timeout(seconds):
            await node.settings.stop.wait()
    except TimeoutError:
        pass
