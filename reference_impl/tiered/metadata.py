"""The metadata plug-in: which segments a partition has in the remote store, in which state.

Events of one partition are applied in one order by every manager, so all agree once they have read
as far. A call that publishes returns when this broker's own manager has applied the event, and
raises if it was dropped when its turn came. Look-ups answer from memory.

A manager learns about the partitions it was told of, and about all whose metadata partition its
broker leads. For any other, and until everything is read that was there when it began, look-ups and
calls that publish raise NotInitialised, and nothing is published.

    RemoteStorageException
    ├── RemoteResourceNotFoundException    an update of a segment that is not known
    ├── EventDropped                       out of its life cycle, or of a leader that was replaced
    ├── MetadataUnavailable                it may or may not have been published: try again
    └── NotInitialised                     not everything is read yet that was there at the start
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from reference_impl.decisions import decision
from reference_impl.tiered.segments import (
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    RemotePartitionDeleteMetadata,
    TopicIdPartition,
)
from reference_impl.tiered.storage import RemoteStorageException


class EventDropped(RemoteStorageException):
    """The event was not applied, here or anywhere."""


class MetadataUnavailable(RemoteStorageException):
    """The event may or may not be applied."""


class NotInitialised(RemoteStorageException):
    """The manager does not know yet what there is of this partition."""


@decision("manager-follows", rules=("TS-129",))
def manager_follows(told: bool, leads_metadata: bool) -> bool:
    """A manager learns of partitions it was told of, and of all whose events its broker leads."""
    return told or leads_metadata


class RemoteLogMetadataManager(Protocol):
    """What a broker asks about remote segments."""

    def configure(self, configs: Mapping[str, str]) -> None:
        """Called once, before anything else (C-21)."""
        ...

    async def add_remote_log_segment_metadata(self, metadata: RemoteLogSegmentMetadata) -> None:
        """A copy begins. Any state but COPY_SEGMENT_STARTED is refused by a ValueError."""
        ...

    async def update_remote_log_segment_metadata(
        self, update: RemoteLogSegmentMetadataUpdate
    ) -> None:
        """A later state. COPY_SEGMENT_STARTED is refused by a ValueError."""
        ...

    async def put_remote_partition_delete_metadata(
        self, metadata: RemotePartitionDeleteMetadata
    ) -> None:
        """The deletion of a partition's remote data has come this far."""
        ...

    def remote_log_segment_metadata(
        self, partition: TopicIdPartition, epoch: int, offset: int
    ) -> RemoteLogSegmentMetadata | None:
        """The finished segment that holds an offset in a leader epoch (C-41)."""
        ...

    def highest_offset_for_epoch(self, partition: TopicIdPartition, epoch: int) -> int | None:
        """The highest offset of an epoch in a finished segment."""
        ...

    def list_remote_log_segments(
        self, partition: TopicIdPartition, epoch: int | None = None
    ) -> tuple[RemoteLogSegmentMetadata, ...]:
        """All segments in any state but DELETE_SEGMENT_FINISHED, ascending by start offset and id;
        given an epoch, those with records of it."""
        ...

    def on_partition_leadership_changes(
        self, leaders: Sequence[TopicIdPartition], followers: Sequence[TopicIdPartition]
    ) -> None:
        """This broker leads or follows these from now on: learn about them."""
        ...

    def on_stop_partitions(self, partitions: Sequence[TopicIdPartition]) -> None:
        """This broker has no replica of these any more."""
        ...

    # What the follower protocol and the remover need beyond the document's interface.

    def is_initialised(self, partition: TopicIdPartition) -> bool:
        """Whether look-ups of this partition answer."""
        ...

    async def caught_up(self, partition: TopicIdPartition) -> None:
        """Return once the partition is initialised and everything is applied that was published
        before the call (C-18); NotInitialised if this manager does not learn about it."""
        ...

    def watch(self, applied: Callable[[TopicIdPartition], None]) -> None:
        """Call this whenever an event changed what is known of a partition, and when a partition
        that this manager was told of becomes initialised."""
        ...

    def deletion_of(self, partition: TopicIdPartition) -> RemotePartitionDeleteMetadata | None:
        """How far the deletion of a partition's remote data has come, if it has begun."""
        ...

    def known_partitions(self) -> tuple[TopicIdPartition, ...]:
        """The user partitions that this manager has events of."""
        ...

    def highest_leader_epoch(self, partition: TopicIdPartition) -> int:
        """The highest leader epoch of the applied events of a partition's segments (G-20); -1 if
        there are none. The remover acts in it (C-30)."""
        ...

    def metadata_leader_epoch(self, partition: TopicIdPartition) -> int | None:
        """The leader epoch in which this broker leads the metadata partition that has the events of
        a user partition; None where another broker does (C-30)."""
        ...

    async def close(self) -> None:
        """Stop reading, write down what is known; calling it twice is harmless."""
        ...
