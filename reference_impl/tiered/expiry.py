"""The expiry task of a partition, and the removal of local segments (C-16).

    choose what goes ► raise the log start ► write it down, for good
      ► DELETE_SEGMENT_STARTED ► delete ► DELETE_SEGMENT_FINISHED, the oldest first

The log start comes first, so that no reader is sent to a segment that is being deleted, and a new
leader can end what this one began. A failure ends the run; the segment stays in
DELETE_SEGMENT_STARTED and goes the next time. Local segments are removed by a task of its own: what
the store does is none of its concern.
"""

from __future__ import annotations

from reference_impl.log.log import Log
from reference_impl.ports.log_lines import Lines
from reference_impl.tiered.decisions import (
    ExpiryView,
    TaskStep,
    local_retention_upto,
    plan_expiry,
    task_may,
)
from reference_impl.tiered.extension import TieredExtension, bytes_above, finished_segments
from reference_impl.tiered.metadata import NotInitialised
from reference_impl.tiered.segments import RemoteLogSegmentMetadata, SegmentState
from reference_impl.tiered.tier import Tier


class ExpiryTask:
    """Expiry of one partition. `run` raises RemoteStorageException if it is to be tried again."""

    def __init__(self, tier: Tier, extension: TieredExtension) -> None:
        self._tier = tier
        self._extension = extension
        self._took_over = (-1, 0)  # in which epoch, and where the disk began then

    def has_work(self) -> bool:
        """Followers have none."""
        return self._extension.partition.leads

    async def run(self) -> None:
        """Delete what has expired, as the leader of the present epoch."""
        log, epoch = self._extension.log, self._extension.partition.state.leader_epoch
        if log is None or not self._may_delete(epoch):
            return
        view = await self._view(log, epoch)
        if not self._may_delete(epoch):
            return
        plan = plan_expiry(view)
        if plan.log_start_offset > log.log_start_offset:
            await log.advance_log_start_offset(plan.log_start_offset)
            self._extension.partition.wake()
        if plan.victims:
            await self._tier.checkpoint()
        for segment in plan.victims:
            if not self._may_delete(epoch):
                return
            await self._delete(segment, epoch)

    def _may_delete(self, epoch: int) -> bool:
        return task_may(TaskStep.DELETE, self._extension.standing(epoch))

    def _led_from(self, log: Log, epoch: int) -> int:
        if self._took_over[0] != epoch:
            self._took_over = (epoch, log.local_log_start_offset)
        return self._took_over[1]

    async def _view(self, log: Log, epoch: int) -> ExpiryView:
        extension, tier = self._extension, self._tier
        while True:
            highest = extension.highest_remote()
            local_only = await bytes_above(log, -1 if highest is None else highest)
            if extension.highest_remote() == highest:
                break  # else a copy that was finished just now would count in both tiers
        retention = tier.topics().retention(extension.id.topic)
        return ExpiryView(
            segments=tier.metadata.list_remote_log_segments(extension.id),
            copying=tuple(extension.copying),
            lineage=log.epochs.entries,
            leader_epoch=epoch,
            led_from=self._led_from(log, epoch),
            log_start_offset=log.log_start_offset,
            local_log_start_offset=log.local_log_start_offset,
            high_watermark=log.high_watermark,
            local_only_bytes=local_only,
            retention_ms=retention.ms,
            retention_bytes=retention.bytes,
            now_ms=tier.ports.clock.now_ms(),
            task_interval_ms=tier.settings().task_interval_ms,
        )

    async def _delete(self, segment: RemoteLogSegmentMetadata, epoch: int) -> None:
        tier = self._tier
        if segment.state is not SegmentState.DELETE_SEGMENT_STARTED:
            # If the copy of an earlier leader is finished at this very moment, no local segment
            # may be removed on the strength of it.
            self._extension.sweeping = not segment.finished
            try:
                await tier.publish(segment, SegmentState.DELETE_SEGMENT_STARTED, epoch)
            finally:
                self._extension.sweeping = False
        await tier.storage.delete_log_segment_data(segment)
        await tier.publish(segment, SegmentState.DELETE_SEGMENT_FINISHED, epoch)
        await tier.forget_indexes(segment.segment_id)
        tier.ports.log(
            Lines.SEGMENT_DELETED,
            partition=self._extension,
            id=segment.segment_id.id,
            start=segment.start_offset,
            end=segment.end_offset,
        )


class LocalRetentionTask:
    """Removes local segments of one replica, leader's or follower's, of which there are copies."""

    def __init__(self, tier: Tier, extension: TieredExtension) -> None:
        self._tier = tier
        self._extension = extension

    def has_work(self) -> bool:
        """Always."""
        return True

    async def run(self) -> None:
        """Remove what local retention lets go, and what lies below the log start."""
        extension, log = self._extension, self._extension.log
        if log is None or not log.older_elsewhere:
            return
        await log.delete_old_segments()
        try:
            highest = extension.highest_remote()
        except NotInitialised:
            return
        if highest is None or extension.sweeping:
            return
        retention = self._tier.topics().retention(extension.id.topic)
        upto = local_retention_upto(
            finished_segments(log),
            log.size,
            highest,
            self._tier.ports.clock.now_ms(),
            retention.local_ms,
            retention.local_bytes,
        )
        if upto is not None and await log.delete_local_segments(upto):
            extension.partition.wake()
