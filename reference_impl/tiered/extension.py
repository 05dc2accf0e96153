"""What tiered storage adds to one partition: the region `TIERED`, and the state of its tasks.

The region reaches from the log start to the highest remote offset of this replica's lineage. It
reaches at least to where the local log begins, also while the metadata manager does not answer: an
offset between the two is in the remote tier, and a reader of it waits for the store and is never
told that the offset is out of range.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.log import Log
from reference_impl.partitions.extensions import Extension
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.views import Region, RegionKind
from reference_impl.tiered.decisions import LocalSegment, Standing
from reference_impl.tiered.lineage import highest_remote_offset
from reference_impl.tiered.metadata import NotInitialised, RemoteLogMetadataManager
from reference_impl.tiered.segments import (
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    TopicIdPartition,
)


@decision("tiered-region", rules=("TS-005",))
def tiered_region(
    log_start_offset: int, local_log_start_offset: int, highest_remote: int | None
) -> Region | None:
    """What can be read from remote segments, also where it is on this disk as well."""
    behind = 0 if highest_remote is None else highest_remote + 1
    end = max(local_log_start_offset, behind)
    if log_start_offset >= end:
        return None
    return Region(RegionKind.TIERED, log_start_offset, end)


class TieredExtension(Extension):
    """A partition with remote segments. ``expire_soon`` has its expiry run before its time.

    ``copying`` are the copies that this broker has begun and not ended; ``in_doubt`` the one of
    them that was published as finished, without an answer; ``failed`` the one that is to be deleted
    before the segment is copied again.
    """

    def __init__(
        self,
        partition: LogicalPartition,
        metadata: RemoteLogMetadataManager,
        expire_soon: Callable[[], None],
    ) -> None:
        self.partition = partition
        self.id = TopicIdPartition(partition.topic_id, partition.topic, partition.index)
        self.copying: dict[RemoteLogSegmentId, RemoteLogSegmentMetadata] = {}
        self.in_doubt: RemoteLogSegmentMetadata | None = None
        self.failed: RemoteLogSegmentMetadata | None = None
        self.sweeping = False  # a copy of an earlier leader is being taken for abandoned
        self._metadata = metadata
        self._expire_soon = expire_soon
        self._highest: tuple[tuple[EpochEntry, ...], int | None] | None = None

    def __repr__(self) -> str:
        return str(self.id)

    @property
    def log(self) -> Log | None:
        """The log of this broker's replica, if it has one."""
        replica = self.partition.replica
        return None if replica is None else replica.log

    def standing(self, leader_epoch: int) -> Standing:
        """What this broker is to the partition now, seen from a task of that epoch."""
        if self.partition.replica is None:
            return Standing.GONE
        leads = self.partition.leads and self.partition.state.leader_epoch == leader_epoch
        return Standing.LEADS if leads else Standing.REPLICA

    def highest_remote(self) -> int | None:
        """The highest remote offset of the lineage; NotInitialised until that is known."""
        log = self.log
        if log is None:
            return None
        lineage = log.epochs.entries
        if self._highest is None or self._highest[0] is not lineage:
            found = highest_remote_offset(
                lineage, lambda epoch: self._metadata.highest_offset_for_epoch(self.id, epoch)
            )
            self._highest = (lineage, found)
        return self._highest[1]

    def metadata_changed(self) -> None:
        """An event of this partition was applied: whoever waits for it looks again."""
        self._highest = None
        self.partition.wake()

    def regions(self, regions: tuple[Region, ...]) -> tuple[Region, ...]:
        """The remote tier below, and partly beside, the local log."""
        log = self.log
        if log is None:
            return regions
        try:
            highest = self.highest_remote()
        except NotInitialised:
            highest = None
        found = tiered_region(log.log_start_offset, log.local_log_start_offset, highest)
        return regions if found is None else (*regions, found)

    def last_tiered(self) -> int | None:
        """The highest remote offset; an error that passes until the metadata is read."""
        try:
            highest = self.highest_remote()
        except NotInitialised as error:
            raise KafkaError(ErrorCode.kafka_storage_error, str(error)) from error
        return -1 if highest is None else highest

    async def delete_records(self, before: int) -> None:
        """The log start has moved; remote segments below it go with the next expiry."""
        self._expire_soon()


def finished_segments(log: Log) -> tuple[LocalSegment, ...]:
    """The segments on this disk that are written to no more, oldest first."""
    segments = log.segments
    return tuple(
        LocalSegment(one.base_offset, after.base_offset - 1, one.size, one.largest_timestamp)
        for one, after in pairwise(segments)
    )


async def bytes_above(log: Log, offset: int) -> int:
    """How much this disk has above an offset: of the segment that holds it, what lies behind."""
    below = 0
    holding = [one for one in log.segments if one.base_offset <= offset][-1:]
    for one in holding:
        found = await one.find(offset + 1)
        below = one.size if found is None else found[0]
    above = sum(one.size for one in log.segments if one.base_offset > offset)
    return above + sum(one.size for one in holding) - below
