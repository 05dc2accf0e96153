"""What both metadata managers share: events are published, answers come from a cache of segments.

How an event is published, and when the cache of a partition is complete, is each manager's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from reference_impl.tiered.life_cycles import check_added, check_updated
from reference_impl.tiered.segment_cache import SegmentCache
from reference_impl.tiered.segments import (
    MetadataEvent,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    RemotePartitionDeleteMetadata,
    TopicIdPartition,
)


class CachedMetadataManager(ABC):
    """See the module; the calls are those of ``metadata.RemoteLogMetadataManager``."""

    @abstractmethod
    async def _publish(self, event: MetadataEvent) -> None:
        """Publish an event, and wait until it is applied here; raise what became of it."""

    @abstractmethod
    def _require(self, partition: TopicIdPartition) -> SegmentCache:
        """All that is known of a partition; NotInitialised as long as that is not all there is."""

    # Publishing.

    async def add_remote_log_segment_metadata(self, metadata: RemoteLogSegmentMetadata) -> None:
        """See the interface."""
        check_added(metadata)
        await self._publish(metadata)

    async def update_remote_log_segment_metadata(
        self, update: RemoteLogSegmentMetadataUpdate
    ) -> None:
        """See the interface."""
        check_updated(update)
        await self._publish(update)

    async def put_remote_partition_delete_metadata(
        self, metadata: RemotePartitionDeleteMetadata
    ) -> None:
        """See the interface."""
        await self._publish(metadata)

    # Looking up.

    def remote_log_segment_metadata(
        self, partition: TopicIdPartition, epoch: int, offset: int
    ) -> RemoteLogSegmentMetadata | None:
        """See the interface."""
        return self._require(partition).segment_for(epoch, offset)

    def highest_offset_for_epoch(self, partition: TopicIdPartition, epoch: int) -> int | None:
        """See the interface."""
        return self._require(partition).highest_offset_for_epoch(epoch)

    def list_remote_log_segments(
        self, partition: TopicIdPartition, epoch: int | None = None
    ) -> tuple[RemoteLogSegmentMetadata, ...]:
        """See the interface."""
        return self._require(partition).segments(epoch)

    def deletion_of(self, partition: TopicIdPartition) -> RemotePartitionDeleteMetadata | None:
        """See the interface."""
        return self._require(partition).deletion

    def highest_leader_epoch(self, partition: TopicIdPartition) -> int:
        """See the interface."""
        return self._require(partition).highest_epoch
