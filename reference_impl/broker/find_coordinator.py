"""FindCoordinator: who coordinates a transactional id or a group.

It is the leader of a partition of an internal topic, which is created when it is asked for first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reference_impl.broker.answering import answering
from reference_impl.broker.metadata_api import create_topics
from reference_impl.broker.node import Node
from reference_impl.coordinators.placement import (
    CONSUMER_OFFSETS,
    TRANSACTION_STATE,
    coordinated_by,
)
from reference_impl.kafka import apis
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.server import Context

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FindCoordinatorRequest, FindCoordinatorResponse

TOPICS = {0: CONSUMER_OFFSETS, 1: TRANSACTION_STATE}
_KINDS = (0, 1, 2)
_FIRST_OF_MANY = 4
_MESSAGES = {
    ErrorCode.none: "NONE",
    ErrorCode.coordinator_not_available: "The coordinator is not available.",
    ErrorCode.invalid_request: "This most likely occurs because of a request being malformed by the"
    " client library or the message was sent to an incompatible broker. See the broker logs for"
    " more details.",
}


class Found(NamedTuple):
    """A broker, or why there is none."""

    error: ErrorCode
    node_id: int = -1
    host: str = ""
    port: int = -1


async def find_coordinator(
    node: Node, context: Context, request: FindCoordinatorRequest
) -> FindCoordinatorResponse:
    """Answer a FindCoordinator request."""
    response = apis.FIND_COORDINATOR.response
    key_type = request.key_type if context.version >= 1 else 0
    if context.version < _FIRST_OF_MANY:
        found = await coordinator_of(node, key_type, request.key)
        return response(
            error_code=found.error,
            error_message=_MESSAGES[found.error],
            node_id=found.node_id,
            host=found.host,
            port=found.port,
        )
    coordinators = []
    for key in request.coordinator_keys:
        found = await coordinator_of(node, key_type, key)
        coordinators.append(
            response.Coordinator(
                key=key,
                node_id=found.node_id,
                host=found.host,
                port=found.port,
                error_code=found.error,
                error_message="" if key_type in _KINDS else _MESSAGES[found.error],
            )
        )
    return response(coordinators=coordinators)


async def coordinator_of(node: Node, key_type: int, key: str) -> Found:
    """The broker that leads the partition of a key."""
    name = TOPICS.get(key_type)
    if name is None:
        return Found(ErrorCode.invalid_request)
    topic = node.image.topics.get(name)
    if topic is None:
        await create_topics(node, [name])
        return Found(ErrorCode.coordinator_not_available)
    state = topic.partitions.get(coordinated_by(key, len(topic.partitions)))
    broker = None if state is None else node.image.brokers.get(state.leader)
    if broker is None or broker.fenced:
        return Found(ErrorCode.coordinator_not_available)
    return Found(ErrorCode.none, broker.broker_id, broker.host, broker.port)


HANDLERS = (answering(apis.FIND_COORDINATOR, find_coordinator),)
