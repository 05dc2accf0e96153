"""Producer ids, handed to brokers a block at a time; no id is ever handed out twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl.controller.cluster import Cluster, Outcome
from reference_impl.kafka.apis import ALLOCATE_PRODUCER_IDS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.records import ProducerIdsAllocated

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        AllocateProducerIdsRequest,
        AllocateProducerIdsResponse,
    )

BLOCK_SIZE = 1000
_LAST = (1 << 63) - 1


def allocate_producer_ids(
    cluster: Cluster, request: AllocateProducerIdsRequest
) -> Outcome[AllocateProducerIdsResponse]:
    """AllocateProducerIds: the next block, for a broker in its present life."""
    cluster.check_broker_epoch(request.broker_id, request.broker_epoch)
    first = cluster.image.next_producer_id
    if first > _LAST - BLOCK_SIZE:
        raise KafkaError(
            ErrorCode.unknown_server_error, "Exhausted all producerIds as the next block exceeds"
        )
    return Outcome(
        answer=ALLOCATE_PRODUCER_IDS.response(producer_id_start=first, producer_id_len=BLOCK_SIZE),
        records=[ProducerIdsAllocated(next_producer_id=first + BLOCK_SIZE)],
    )
