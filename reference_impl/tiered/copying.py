"""The copy task of a partition: finished segments go to the remote store, one after the other.

    read the segment and what belongs to it
      ► COPY_SEGMENT_STARTED ► copy ► COPY_SEGMENT_FINISHED

A copy that failed is deleted, and then made again under another id: in an outage there is one such
copy, however long it lasts. A segment that cannot be copied keeps back all behind it. A leader that
was replaced finishes the copy in hand and begins no other (C-36).

Whether a copy is finished must never be a guess, since local segments are removed on the strength
of it. So one whose last event has no answer stays this broker's own: it is published again, which
changes nothing if it was applied, and neither deleted nor taken for abandoned until that is known.
"""

from __future__ import annotations

from uuid import UUID

from reference_impl.decisions import decision
from reference_impl.log.checkpoints import VERSION
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.log import Log
from reference_impl.log.segment import Segment
from reference_impl.ports.log_lines import Lines
from reference_impl.tiered.decisions import (
    LocalSegment,
    Standing,
    TaskStep,
    active_must_roll,
    copy_candidates,
    copy_from,
    task_may,
)
from reference_impl.tiered.extension import TieredExtension, finished_segments
from reference_impl.tiered.lineage import epochs_of_copy, segment_leader_epochs
from reference_impl.tiered.metadata import EventDropped
from reference_impl.tiered.segments import (
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    SegmentState,
)
from reference_impl.tiered.storage import (
    LogSegmentData,
    RemoteResourceNotFoundException,
    RemoteStorageException,
)
from reference_impl.tiered.tier import Tier


class NotCopied(RemoteStorageException):
    """A segment cannot be copied now, and none behind it is."""


def copy_lag(extension: TieredExtension) -> list[LocalSegment]:
    """The finished segments that are not in the remote store yet."""
    log = extension.log
    if log is None or not log.epochs.entries:
        return []
    start = copy_from(
        extension.highest_remote(), log.log_start_offset, log.epochs.entries[0].start_offset
    )
    return list(copy_candidates(finished_segments(log), start, log.last_stable_offset))


@decision("latest-timestamp", rules=("TS-089",))
def latest_timestamp(segment: LocalSegment) -> int:
    """The greatest of its records, by which it expires (G-37)."""
    return segment.largest_timestamp


@decision("size-of-copy", rules=("TS-090",))
def size_of_copy(segment: LocalSegment) -> int:
    """The bytes of its records; indexes do not count."""
    return segment.size


@decision("id-of-copy", rules=("TS-085",))
def id_of_copy(fresh: UUID, base_offset: int) -> UUID:
    """Another one for each attempt: what a failed one left is never taken for this one's."""
    return fresh


class CopyTask:
    """Copies of one partition. `run` raises RemoteStorageException if it is to be tried again."""

    def __init__(self, tier: Tier, extension: TieredExtension) -> None:
        self._tier = tier
        self._extension = extension

    def has_work(self) -> bool:
        """A follower has none, unless it was leader and has a copy in hand."""
        extension = self._extension
        in_hand = extension.in_doubt is not None or extension.failed is not None
        return extension.partition.leads or in_hand

    async def run(self) -> None:
        """Copy what is to be copied in the present epoch, and end what was begun in another."""
        extension = self._extension
        if extension.in_doubt is not None:
            await self._finish(extension.in_doubt)
        if extension.failed is not None:
            await self._discard(extension.failed)
        epoch = extension.partition.state.leader_epoch
        await self._roll_if_due(epoch)
        done = -1
        while self._may(TaskStep.START_COPY, epoch):
            waiting = [one for one in copy_lag(extension) if one.end_offset > done]
            if not waiting:
                return
            await self._copy(waiting[0], epoch)
            done = waiting[0].end_offset

    def _may(self, step: TaskStep, epoch: int) -> bool:
        return task_may(step, self._extension.standing(epoch))

    async def _roll_if_due(self, epoch: int) -> None:
        log = self._extension.log
        if log is None or self._extension.standing(epoch) is not Standing.LEADS:
            return
        active, now_ms = log.segments[-1], self._tier.ports.clock.now_ms()
        retention = self._tier.topics().retention(self._extension.id.topic)
        if active_must_roll(active.size, active.largest_timestamp, now_ms, retention.ms):
            await log.roll()

    async def _copy(self, local: LocalSegment, epoch: int) -> None:
        extension, log = self._extension, self._extension.log
        segment = None if log is None else _segment_at(log, local.base_offset)
        if log is None or segment is None:
            raise NotCopied(f"{extension}: the segment at {local.base_offset} is gone")
        data = await self._read(log, segment, local)
        if not self._may(TaskStep.START_COPY, epoch):
            return
        metadata = self._metadata_of(log, local, epoch)
        extension.copying[metadata.segment_id] = metadata
        try:
            await self._tier.metadata.add_remote_log_segment_metadata(metadata)
            await self._store(metadata, data)
            await self._finish(metadata)
        except Exception:  # cancelled, it stays: the manager cleans up then
            self._let_go(metadata)
            raise
        self._let_go(metadata)

    def _let_go(self, metadata: RemoteLogSegmentMetadata) -> None:
        if metadata not in (self._extension.in_doubt, self._extension.failed):
            self._extension.copying.pop(metadata.segment_id, None)

    async def _read(self, log: Log, segment: Segment, local: LocalSegment) -> LogSegmentData:
        """Everything that belongs to a segment, as its files have it."""
        snapshot = await log.producer_snapshot(local.end_offset + 1)
        if snapshot is None:
            self._tier.meters.write_errors.add((self._extension.id.topic,))
            self._tier.ports.log(
                Lines.NO_SNAPSHOT, partition=self._extension, start=local.base_offset
            )
            raise NotCopied(f"{self._extension}: no snapshot at {local.end_offset + 1}")
        try:
            data = await segment.file.read(0, local.size)
        except (OSError, ValueError) as error:  # it was removed, or the disk fails
            raise NotCopied(f"{self._extension}: {error}") from error
        return LogSegmentData(
            segment=data,
            offset_index=segment.offsets.encoded(0),
            time_index=segment.times.encoded(0),
            producer_snapshot=snapshot,
            leader_epochs=checkpoint_of(epochs_of_copy(log.epochs.entries, local.end_offset)),
            transaction_index=segment.aborted.encoded(0) if len(segment.aborted) else None,
        )

    def _metadata_of(self, log: Log, local: LocalSegment, epoch: int) -> RemoteLogSegmentMetadata:
        lineage = log.epochs.entries
        return RemoteLogSegmentMetadata(
            segment_id=RemoteLogSegmentId(
                self._extension.id, id_of_copy(self._tier.new_id(), local.base_offset)
            ),
            start_offset=local.base_offset,
            end_offset=local.end_offset,
            leader_epoch=epoch,
            max_timestamp_ms=latest_timestamp(local),
            event_timestamp_ms=self._tier.ports.clock.now_ms(),
            segment_leader_epochs=segment_leader_epochs(
                lineage, local.base_offset, local.end_offset
            ),
            segment_size_bytes=size_of_copy(local),
        )

    async def _store(self, metadata: RemoteLogSegmentMetadata, data: LogSegmentData) -> None:
        try:
            await self._tier.storage.copy_log_segment_data(metadata, data)
        except RemoteStorageException:
            self._tier.meters.write_errors.add((self._extension.id.topic,))
            self._extension.failed = metadata
            await self._discard(metadata)
            raise
        self._tier.meters.bytes_out.add((self._extension.id.topic,), metadata.segment_size_bytes)

    async def _discard(self, metadata: RemoteLogSegmentMetadata) -> None:
        """Take away what a failed copy left (G-14). If that is refused, another has seen to it."""
        epoch = metadata.leader_epoch
        try:
            await self._tier.publish(metadata, SegmentState.DELETE_SEGMENT_STARTED, epoch)
            await self._tier.storage.delete_log_segment_data(metadata)
            await self._tier.publish(metadata, SegmentState.DELETE_SEGMENT_FINISHED, epoch)
        except (EventDropped, RemoteResourceNotFoundException):
            await self._tier.storage.delete_log_segment_data(metadata)
        self._extension.failed = None
        self._extension.copying.pop(metadata.segment_id, None)

    async def _finish(self, metadata: RemoteLogSegmentMetadata) -> None:
        """Publish that a copy is finished; it stays in doubt until that is known."""
        extension, epoch = self._extension, metadata.leader_epoch
        if not self._may(TaskStep.FINISH_COPY, epoch):
            if extension.in_doubt is not metadata:
                await self._tier.storage.delete_log_segment_data(metadata)
            return
        extension.in_doubt = metadata
        try:
            await self._tier.publish(metadata, SegmentState.COPY_SEGMENT_FINISHED, epoch)
        except (EventDropped, RemoteResourceNotFoundException):
            # It is of no use to any reader: what was written goes, and nothing more is published.
            await self._tier.storage.delete_log_segment_data(metadata)
            self._ended(metadata)
            raise
        self._ended(metadata)
        self._tier.ports.log(
            Lines.SEGMENT_COPIED,
            partition=extension,
            id=metadata.segment_id.id,
            start=metadata.start_offset,
            end=metadata.end_offset,
            size=metadata.segment_size_bytes,
        )

    def _ended(self, metadata: RemoteLogSegmentMetadata) -> None:
        self._extension.in_doubt = None
        self._extension.copying.pop(metadata.segment_id, None)


def cancelled_copies(extension: TieredExtension) -> tuple[RemoteLogSegmentMetadata, ...]:
    """Copies that a task left when it was cancelled: none of them can have become finished."""
    return tuple(one for one in extension.copying.values() if one is not extension.in_doubt)


def checkpoint_of(entries: tuple[EpochEntry, ...]) -> bytes:
    """Leader epochs as a checkpoint file has them."""
    lines = [VERSION, str(len(entries)), *(f"{one.epoch} {one.start_offset}" for one in entries)]
    return "".join(f"{line}\n" for line in lines).encode()


def _segment_at(log: Log, base_offset: int) -> Segment | None:
    return next((one for one in log.segments if one.base_offset == base_offset), None)
