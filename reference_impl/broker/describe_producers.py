"""DescribeProducers: what a replica remembers of its idempotent producers.

Leader and followers answer alike, each from its own log: also where the transaction of a producer
began that is open, and the epoch of the coordinator that ended its last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl.broker.node import Node
from reference_impl.kafka.apis import DESCRIBE_PRODUCERS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.server import Context
from reference_impl.log.producers import Producer
from reference_impl.metadata.topic_names import check_name

if TYPE_CHECKING:
    from reference_impl.kafka.messages import DescribeProducersRequest, DescribeProducersResponse

NO_TRANSACTION = -1
_UNKNOWN_TOPIC = "This server does not host this topic-partition."


async def describe_producers(
    node: Node, context: Context, request: DescribeProducersRequest
) -> DescribeProducersResponse:
    """The producers of each partition, the one with the lowest id first."""
    response = DESCRIBE_PRODUCERS.response
    topics = [
        response.TopicResponse(
            name=topic.name,
            partitions=[await _described(node, topic.name, i) for i in topic.partition_indexes],
        )
        for topic in request.topics
    ]
    return response(topics=topics)


async def _described(
    node: Node, topic: str, index: int
) -> DescribeProducersResponse.PartitionResponse:
    try:
        check_name(topic)
        if topic not in node.image.topics:
            raise KafkaError(ErrorCode.unknown_topic_or_partition, _UNKNOWN_TOPIC)
        known = (await node.partitions.find(topic, index)).producers()
    except KafkaError as error:
        return DESCRIBE_PRODUCERS.response.PartitionResponse(
            partition_index=index, error_code=error.code, error_message=error.message or None
        )
    return DESCRIBE_PRODUCERS.response.PartitionResponse(
        partition_index=index,
        error_message=None,
        active_producers=[
            DESCRIBE_PRODUCERS.response.ProducerState(
                producer_id=producer_id,
                producer_epoch=known[producer_id].epoch,
                last_sequence=known[producer_id].last_sequence,
                last_timestamp=known[producer_id].last_timestamp,
                coordinator_epoch=known[producer_id].coordinator_epoch,
                current_txn_start_offset=_start_of(known[producer_id]),
            )
            for producer_id in sorted(known)
        ],
    )


def _start_of(producer: Producer) -> int:
    first = producer.transaction_from
    return NO_TRANSACTION if first is None else first
