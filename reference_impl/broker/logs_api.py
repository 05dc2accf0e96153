"""Requests about logs other than reading and writing: their epochs, their beginning, their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_impl.broker.node import Node
from reference_impl.coordinators.placement import INTERNAL_TOPICS
from reference_impl.kafka.apis import DELETE_RECORDS, DESCRIBE_LOG_DIRS, OFFSET_FOR_LEADER_EPOCH
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.server import Context
from reference_impl.partitions.logical import LogicalPartition, watched_of
from reference_impl.replication.decisions import Reader
from reference_impl.replication.watching import until

if TYPE_CHECKING:
    from reference_impl.kafka.messages import (
        DeleteRecordsRequest,
        DeleteRecordsResponse,
        DescribeLogDirsRequest,
        DescribeLogDirsResponse,
        OffsetForLeaderEpochRequest,
        OffsetForLeaderEpochResponse,
    )


async def offset_for_leader_epoch(
    node: Node, context: Context, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    """Where an epoch ends in the leader's log."""
    response = OFFSET_FOR_LEADER_EPOCH.response
    topics = []
    for topic in request.topics:
        answers = []
        for one in topic.partitions:
            answer = response.EpochEndOffset(
                partition=one.partition, leader_epoch=-1, end_offset=-1
            )
            try:
                partition = await node.partitions.find(topic.topic, one.partition)
                partition.check(one.current_leader_epoch, only_leader=True)
                ends = partition.find_epoch_end(one.leader_epoch)
                answer.leader_epoch, answer.end_offset = ends.epoch, ends.end_offset
            except KafkaError as error:
                answer.error_code = error.code
            answers.append(answer)
        topics.append(response.OffsetForLeaderTopicResult(topic=topic.topic, partitions=answers))
    return response(topics=topics)


async def delete_records(
    node: Node, context: Context, request: DeleteRecordsRequest
) -> DeleteRecordsResponse:
    """Move log starts up; answered once every replica that is alive has followed.

    A partition that is named twice is named once, with the last of its offsets.
    """
    response = DELETE_RECORDS.response
    pending: list[
        tuple[LogicalPartition, int, DeleteRecordsResponse.DeleteRecordsPartitionResult]
    ] = []
    asked = {
        (topic.name, one.partition_index): one.offset
        for topic in request.topics
        for one in topic.partitions
    }
    topics: dict[str, list[DeleteRecordsResponse.DeleteRecordsPartitionResult]] = {}
    for (name, index), offset in asked.items():
        answer = response.DeleteRecordsPartitionResult(partition_index=index, low_watermark=-1)
        topics.setdefault(name, []).append(answer)
        try:
            partition = await node.partitions.find(name, index)
            partition.check(-1, only_leader=False)
            if name in INTERNAL_TOPICS:
                raise KafkaError(ErrorCode.invalid_topic_exception)
            wanted = await partition.delete_records(offset)
            pending.append((partition, wanted, answer))
        except KafkaError as error:
            answer.error_code = error.code

    def followed() -> bool:
        return all(partition.deleted(wanted) is not None for partition, wanted, _ in pending)

    timeout_s = max(0, request.timeout_ms) / 1000
    watched = watched_of([partition for partition, _, _ in pending])
    await until(followed, watched, timeout_s=timeout_s)
    for partition, wanted, answer in pending:
        ended = partition.deleted(wanted)
        answer.error_code = ErrorCode.request_timed_out if ended is None else ended
        answer.low_watermark = partition.low_watermark()
    return response(
        topics=[
            response.DeleteRecordsTopicResult(name=name, partitions=answers)
            for name, answers in topics.items()
        ]
    )


async def describe_log_dirs(
    node: Node, context: Context, request: DescribeLogDirsRequest
) -> DescribeLogDirsResponse:
    """How much each log holds, and how far it is behind."""
    response = DESCRIBE_LOG_DIRS.response
    wanted = None
    if request.topics is not None:
        wanted = [(one.topic, index) for one in request.topics for index in one.partitions]
    topics: dict[str, list[DescribeLogDirsResponse.DescribeLogDirsPartition]] = {}
    for partition in node.partitions.with_replicas():
        if wanted is not None and (partition.topic, partition.index) not in wanted:
            continue
        bounds = partition.bounds(Reader.FOLLOWER)
        topics.setdefault(partition.topic, []).append(
            response.DescribeLogDirsPartition(
                partition_index=partition.index,
                partition_size=partition.size,
                offset_lag=max(0, bounds.high_watermark - bounds.log_end_offset),
                is_future_key=False,
            )
        )
    room = node.settings.room
    total, usable = (-1, -1) if room is None else room()
    result = response.DescribeLogDirsResult(
        log_dir=node.settings.log_dir,
        topics=[
            response.DescribeLogDirsTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
        total_bytes=total,
        usable_bytes=usable,
    )
    return response(results=[result])
