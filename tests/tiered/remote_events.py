"""Events of remote segments, briefly: segment ``n`` of ``orders``-0 has the id ``n``."""

from __future__ import annotations

from uuid import UUID

from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.segments import (
    PartitionDeleteState,
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    RemotePartitionDeleteMetadata,
    SegmentState,
    TopicIdPartition,
)

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
ORDERS = TopicIdPartition(TOPIC_ID, "orders", 0)
PAYMENTS = TopicIdPartition(UUID(int=77), "payments", 12)

COPYING = SegmentState.COPY_SEGMENT_STARTED
COPIED = SegmentState.COPY_SEGMENT_FINISHED
DELETING = SegmentState.DELETE_SEGMENT_STARTED
DELETED = SegmentState.DELETE_SEGMENT_FINISHED
MARKED = PartitionDeleteState.DELETE_PARTITION_MARKED
REMOVING = PartitionDeleteState.DELETE_PARTITION_STARTED
REMOVED = PartitionDeleteState.DELETE_PARTITION_FINISHED


def segment(
    number: int,
    first: int = 0,
    last: int = 9,
    *,
    epoch: int = 0,
    epochs: tuple[tuple[int, int], ...] = (),
    at: int = 1000,
    partition: TopicIdPartition = ORDERS,
    state: SegmentState = COPYING,
) -> RemoteLogSegmentMetadata:
    """A copy begins; without ``epochs`` all its records are of the leader's epoch."""
    return RemoteLogSegmentMetadata(
        segment_id=RemoteLogSegmentId(partition, UUID(int=number)),
        start_offset=first,
        end_offset=last,
        leader_epoch=epoch,
        max_timestamp_ms=at - 1,
        event_timestamp_ms=at,
        segment_leader_epochs=tuple(EpochEntry(*one) for one in epochs or ((epoch, first),)),
        segment_size_bytes=100,
        state=state,
    )


def update(
    number: int,
    state: SegmentState,
    *,
    epoch: int = 0,
    at: int = 2000,
    partition: TopicIdPartition = ORDERS,
) -> RemoteLogSegmentMetadataUpdate:
    """A later state of a segment."""
    return RemoteLogSegmentMetadataUpdate(
        segment_id=RemoteLogSegmentId(partition, UUID(int=number)),
        leader_epoch=epoch,
        event_timestamp_ms=at,
        state=state,
    )


def deletion(
    state: PartitionDeleteState,
    *,
    epoch: int = 0,
    at: int = 3000,
    partition: TopicIdPartition = ORDERS,
) -> RemotePartitionDeleteMetadata:
    """How far the deletion of a partition has come."""
    return RemotePartitionDeleteMetadata(
        partition=partition, epoch=epoch, event_timestamp_ms=at, state=state
    )
