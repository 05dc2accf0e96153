"""ListOffsets: which offset belongs to a time, or to one of the special times below.

    −1 latest   −2 earliest   −3 the record with the largest timestamp   −4 earliest local
    −5 last tiered   −6 earliest that waits for upload

A leader that does not know yet whether what it found at its election is committed says
OFFSET_NOT_AVAILABLE instead of an offset that might go back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl.broker.node import Node
from reference_impl.kafka.apis import LIST_OFFSETS
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.server import Context
from reference_impl.replication.decisions import Reader, readable_upto
from reference_impl.replication.partition import Partition

if TYPE_CHECKING:
    from reference_impl.kafka.messages import ListOffsetsRequest, ListOffsetsResponse

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

# The first version in which a special timestamp may be asked for.
FIRST_VERSION = {
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
CONSUMER, DEBUGGING = -1, -2
NOT_FOUND = (-1, -1, -1)
_FIRST_NOT_AVAILABLE = 5

Found = tuple[int, int, int]  # timestamp, offset, leader epoch


async def list_offsets(
    node: Node, context: Context, request: ListOffsetsRequest
) -> ListOffsetsResponse:
    """Answer a ListOffsets request."""
    asked: dict[tuple[str, int], int] = {}
    for topic in request.topics:
        for one in topic.partitions:
            key = (topic.name, one.partition_index)
            asked[key] = asked.get(key, 0) + 1
    topics = []
    for topic in request.topics:
        answers: dict[int, ListOffsetsResponse.ListOffsetsPartitionResponse] = {}
        for one in topic.partitions:
            answer = LIST_OFFSETS.response.ListOffsetsPartitionResponse(
                partition_index=one.partition_index, timestamp=-1, offset=-1, leader_epoch=-1
            )
            try:
                if asked[topic.name, one.partition_index] > 1:
                    raise KafkaError(ErrorCode.invalid_request)
                partition = await _partition(node, context, request, topic.name, one)
                found = await _find(partition, _reader(request), one.timestamp)
                answer.timestamp, answer.offset, answer.leader_epoch = found
            except KafkaError as error:
                answer.error_code = _code(error, context.version)
            answers[one.partition_index] = answer
        topics.append(
            LIST_OFFSETS.response.ListOffsetsTopicResponse(
                name=topic.name, partitions=list(answers.values())
            )
        )
    response: ListOffsetsResponse = LIST_OFFSETS.response(topics=topics)
    return response


def _code(error: KafkaError, version: int) -> ErrorCode:
    if error.code is ErrorCode.offset_not_available and version < _FIRST_NOT_AVAILABLE:
        return ErrorCode.leader_not_available
    return error.code


def _reader(request: ListOffsetsRequest) -> Reader:
    if request.replica_id != CONSUMER:
        return Reader.FOLLOWER
    return Reader.COMMITTED if request.isolation_level == 1 else Reader.CONSUMER


async def _partition(
    node: Node,
    context: Context,
    request: ListOffsetsRequest,
    topic: str,
    one: ListOffsetsRequest.ListOffsetsPartition,
) -> Partition:
    if request.isolation_level not in (0, 1):
        raise KafkaError(ErrorCode.unknown_server_error)
    if one.timestamp < 0 and (
        one.timestamp < EARLIEST_PENDING_UPLOAD
        or context.version < FIRST_VERSION.get(one.timestamp, 0)
    ):
        raise KafkaError(ErrorCode.unsupported_version)
    partition = await node.replicas.partition(topic, one.partition_index)
    partition.check(one.current_leader_epoch, only_leader=request.replica_id != DEBUGGING)
    return partition


async def _find(partition: Partition, reader: Reader, timestamp: int) -> Found:
    log = partition.log
    upto = readable_upto(reader, log.log_end_offset, log.high_watermark, log.last_stable_offset)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        epoch = log.epochs.epoch_for(log.log_start_offset)
        return -1, log.log_start_offset, -1 if epoch is None else epoch
    if timestamp == LATEST:
        _must_know_end(partition, reader)
        return -1, upto, partition.state.leader_epoch
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return NOT_FOUND
    if timestamp == MAX_TIMESTAMP:
        found = await log.offset_of_max_timestamp(upto=log.log_end_offset)
    else:
        found = await log.offset_for_timestamp(timestamp, upto=log.log_end_offset)
    if found is None or found.offset >= upto:
        _must_know_end(partition, reader)
        return NOT_FOUND
    epoch = -1 if found.leader_epoch is None else found.leader_epoch
    return found.timestamp, found.offset, epoch


def _must_know_end(partition: Partition, reader: Reader) -> None:
    if reader is not Reader.FOLLOWER and not partition.end_is_known:
        raise KafkaError(ErrorCode.offset_not_available)
