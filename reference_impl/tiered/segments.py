"""Values of tiered storage: which segment, what is known of it, what happened to it.

Offsets of segments are inclusive at both ends. Times are wall-clock milliseconds of the broker that
published the event.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple
from uuid import UUID

from reference_impl.log.decisions import EpochEntry


class TopicIdPartition(NamedTuple):
    """A user partition. Everything remote is kept by topic id: a name may be used again."""

    topic_id: UUID
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class RemoteLogSegmentId(NamedTuple):
    """A copy of a segment; copied again, the same segment has another id."""

    partition: TopicIdPartition
    id: UUID


class SegmentState(IntEnum):
    """What has happened to a remote segment; the numbers are those of the metadata records."""

    COPY_SEGMENT_STARTED = 0
    COPY_SEGMENT_FINISHED = 1
    DELETE_SEGMENT_STARTED = 2
    DELETE_SEGMENT_FINISHED = 3


class PartitionDeleteState(IntEnum):
    """How far the remote data of a deleted partition is deleted."""

    DELETE_PARTITION_MARKED = 0
    DELETE_PARTITION_STARTED = 1
    DELETE_PARTITION_FINISHED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteLogSegmentMetadataUpdate:
    """A later state of a segment."""

    segment_id: RemoteLogSegmentId
    leader_epoch: int  # of the user partition, in which the publisher acts
    event_timestamp_ms: int
    state: SegmentState


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteLogSegmentMetadata:
    """A segment, as of the last event that was applied to it.

    ``segment_leader_epochs`` has an entry for every epoch with a record in the segment, each with
    its start offset in the leader's epoch cache: the first may begin before the segment (C-15).
    """

    segment_id: RemoteLogSegmentId
    start_offset: int
    end_offset: int
    leader_epoch: int
    max_timestamp_ms: int
    event_timestamp_ms: int
    segment_leader_epochs: tuple[EpochEntry, ...]
    segment_size_bytes: int
    state: SegmentState = SegmentState.COPY_SEGMENT_STARTED

    @property
    def partition(self) -> TopicIdPartition:
        """The user partition it belongs to."""
        return self.segment_id.partition

    @property
    def finished(self) -> bool:
        """Whether readers may use it."""
        return self.state is SegmentState.COPY_SEGMENT_FINISHED

    def updated(self, update: RemoteLogSegmentMetadataUpdate) -> RemoteLogSegmentMetadata:
        """The same segment after an event."""
        return replace(
            self,
            leader_epoch=update.leader_epoch,
            event_timestamp_ms=update.event_timestamp_ms,
            state=update.state,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotePartitionDeleteMetadata:
    """How far the deletion of a partition's remote data has come.

    ``epoch`` is the controller's when it is marked, later the leader epoch of the metadata
    partition.
    """

    partition: TopicIdPartition
    epoch: int
    event_timestamp_ms: int
    state: PartitionDeleteState


MetadataEvent = (
    RemoteLogSegmentMetadata | RemoteLogSegmentMetadataUpdate | RemotePartitionDeleteMetadata
)
"""What is published about remote storage, in one order per user partition."""


def partition_of(event: MetadataEvent) -> TopicIdPartition:
    """The user partition that an event is about."""
    if isinstance(event, RemotePartitionDeleteMetadata):
        return event.partition
    return event.segment_id.partition


def id_text(id_: UUID) -> str:
    """An id as Kafka prints it: 22 characters."""
    return base64.urlsafe_b64encode(id_.bytes).decode().rstrip("=")


def id_of(text: str) -> UUID:
    """The inverse of ``id_text``; a ValueError for what is no id."""
    return UUID(bytes=base64.urlsafe_b64decode(f"{text}=="))
