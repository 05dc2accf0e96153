"""What the tasks of all partitions of a broker share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

from reference_impl.ports import Ports
from reference_impl.tiered.metadata import RemoteLogMetadataManager
from reference_impl.tiered.meters import TieredMeters
from reference_impl.tiered.segments import (
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    SegmentState,
)
from reference_impl.tiered.settings import TieredSettings, TopicSettings
from reference_impl.tiered.storage import RemoteStorageManager


async def _nothing(segment: RemoteLogSegmentId) -> None:
    """No index of it is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """The two plug-ins, and what a task needs beside them.

    ``checkpoint`` writes down where the logs of this broker start; ``forget_indexes`` drops the
    cached indexes of a segment that is gone.
    """

    ports: Ports
    storage: RemoteStorageManager
    metadata: RemoteLogMetadataManager
    meters: TieredMeters
    settings: Callable[[], TieredSettings]
    topics: Callable[[], TopicSettings]
    checkpoint: Callable[[], Awaitable[None]]
    forget_indexes: Callable[[RemoteLogSegmentId], Awaitable[None]] = field(default=_nothing)

    def new_id(self) -> UUID:
        """Another one for each copy."""
        return UUID(bytes=self.ports.rng.randbytes(16), version=4)

    async def publish(
        self, segment: RemoteLogSegmentMetadata, state: SegmentState, leader_epoch: int
    ) -> None:
        """A segment is in a later state; returns when that is applied here."""
        await self.metadata.update_remote_log_segment_metadata(
            RemoteLogSegmentMetadataUpdate(
                segment_id=segment.segment_id,
                leader_epoch=leader_epoch,
                event_timestamp_ms=self.ports.clock.now_ms(),
                state=state,
            )
        )
