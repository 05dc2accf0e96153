"""Requests about the cluster as a whole, and those that only the controller can answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl.broker.answering import answering
from reference_impl.broker.forwarding import forwarded
from reference_impl.broker.metadata_api import ALL_ON_THE_CLUSTER, UNSAID, some_broker
from reference_impl.broker.node import Node
from reference_impl.kafka import apis
from reference_impl.kafka.api_versions import Features
from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.server import Context

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        DescribeClusterRequest,
        DescribeClusterResponse,
    )

# What Apache Kafka 4.3 supports, and what a new cluster of it agrees on.
SUPPORTED = {
    "group.version": (0, 1),
    "kraft.version": (0, 1),
    "metadata.version": (7, 30),
    "share.version": (0, 1),
    "streams.version": (0, 1),
    "transaction.version": (0, 2),
    "eligible.leader.replicas.version": (0, 1),
}
FINALIZED = {
    "group.version": 1,
    "streams.version": 1,
    "transaction.version": 2,
    "eligible.leader.replicas.version": 1,
    "share.version": 1,
    "metadata.version": 30,
}

BROKERS = 1
CONTROLLERS = 2

_WRONG_ENDPOINT = (
    "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
    "CONTROLLER"
)


def features(node: Node) -> Features:
    """The features of the cluster, as of what the broker has read."""
    return Features(supported=SUPPORTED, finalized=FINALIZED, epoch=node.image.offset)


async def describe_cluster(
    node: Node, context: Context, request: DescribeClusterRequest
) -> DescribeClusterResponse:
    """DescribeCluster: the brokers; those that are fenced only if asked for."""
    response = apis.DESCRIBE_CLUSTER.response
    wanted = request.endpoint_type if context.version >= 1 else BROKERS
    if wanted != BROKERS:
        mismatch = wanted == CONTROLLERS
        code = (
            ErrorCode.mismatched_endpoint_type if mismatch else ErrorCode.unsupported_endpoint_type
        )
        said = _WRONG_ENDPOINT if mismatch else f"Unsupported endpoint type {wanted}"
        return response(
            error_code=code,
            error_message=said,
            cluster_id="",
            controller_id=-1,
            cluster_authorized_operations=UNSAID,
        )
    asked = request.include_cluster_authorized_operations
    return response(
        error_message=None,
        endpoint_type=BROKERS,
        cluster_id=node.settings.cluster_id,
        controller_id=some_broker(node.image),
        brokers=[
            response.DescribeClusterBroker(
                broker_id=broker.broker_id,
                host=broker.host,
                port=broker.port,
                rack=broker.rack,
                is_fenced=broker.fenced,
            )
            for broker in node.image.brokers.values()
            if not broker.fenced or request.include_fenced_brokers
        ],
        cluster_authorized_operations=ALL_ON_THE_CLUSTER if asked else UNSAID,
    )


HANDLERS = (
    answering(apis.DESCRIBE_CLUSTER, describe_cluster),
    forwarded(apis.CREATE_TOPICS),
    forwarded(apis.DELETE_TOPICS),
    forwarded(apis.CREATE_PARTITIONS),
    forwarded(apis.ELECT_LEADERS),
    forwarded(apis.ALTER_PARTITION_REASSIGNMENTS),
    forwarded(apis.LIST_PARTITION_REASSIGNMENTS),
    forwarded(apis.UNREGISTER_BROKER),
)
