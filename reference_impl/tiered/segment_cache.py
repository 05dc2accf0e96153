"""What the events of one user partition add up to.

Events are applied in the order of the metadata topic, by every manager alike; what a manager knows
is a function of how many it has applied. Segments are looked up by leader epoch and offset: a
segment has, for each of its epochs, a range of offsets (C-15), ranges of several segments may
overlap, and none hides another from listings (C-41).

Deleted segments are gone from every answer. Only their ids are kept: an event that comes late must
not bring one back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from uuid import UUID

from reference_impl.decisions import decision
from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.life_cycles import (
    KnownSegment,
    Outcome,
    judge_segment_event,
    partition_delete_transition,
)
from reference_impl.tiered.segments import (
    MetadataEvent,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    RemotePartitionDeleteMetadata,
    SegmentState,
    TopicIdPartition,
)

NO_EPOCH = -1


class EpochRange(NamedTuple):
    """The offsets of one epoch in a segment, both included."""

    epoch: int
    first: int
    last: int


@decision("tiered-epoch-ranges", rules=("TS-037",))
def epoch_ranges(
    start_offset: int, end_offset: int, epochs: tuple[EpochEntry, ...]
) -> tuple[EpochRange, ...]:
    """The offsets that each epoch has in a segment, cut to the segment; epochs without any go."""
    ends = [entry.start_offset - 1 for entry in epochs[1:]] + [end_offset]
    ranges = (
        EpochRange(entry.epoch, max(entry.start_offset, start_offset), min(end, end_offset))
        for entry, end in zip(epochs, ends, strict=False)
    )
    return tuple(one for one in ranges if one.first <= one.last)


def ranges_of(segment: RemoteLogSegmentMetadata) -> tuple[EpochRange, ...]:
    """The offsets of each epoch in this segment."""
    return epoch_ranges(
        segment.start_offset, segment.end_offset, tuple(segment.segment_leader_epochs)
    )


class Candidate(NamedTuple):
    """A finished segment and the range of one epoch in it; the greatest one is preferred."""

    last: int
    event_timestamp_ms: int
    id: UUID


@decision("tiered-preferred-segment", rules=("TS-034",))
def preferred(candidates: tuple[Candidate, ...]) -> Candidate | None:
    """Of segments that hold an offset: the one reaching furthest in the epoch, then the one
    finished last, then the one with the greater id."""
    return max(candidates, default=None)


class HeldSegment(NamedTuple):
    """A segment that is not deleted, and the leader epoch in which its copy began."""

    metadata: RemoteLogSegmentMetadata
    started_in: int


class SegmentCache:
    """Everything known of one user partition."""

    def __init__(self, partition: TopicIdPartition) -> None:
        self.partition = partition
        self.highest_epoch = NO_EPOCH
        self.deletion: RemotePartitionDeleteMetadata | None = None
        self.held: dict[UUID, HeldSegment] = {}
        self.deleted: dict[UUID, None] = {}
        self._listed: tuple[RemoteLogSegmentMetadata, ...] | None = None
        self._by_epoch: dict[int, _EpochIndex] = {}

    @classmethod
    def restored(
        cls,
        partition: TopicIdPartition,
        *,
        highest_epoch: int,
        deletion: RemotePartitionDeleteMetadata | None,
        held: Iterable[HeldSegment],
        deleted: Iterable[UUID],
    ) -> SegmentCache:
        """What was known before, from where it was kept."""
        cache = cls(partition)
        cache.highest_epoch = highest_epoch
        cache.deletion = deletion
        cache.held = {one.metadata.segment_id.id: one for one in held}
        cache.deleted = dict.fromkeys(deleted)
        return cache

    @property
    def has_events(self) -> bool:
        """Whether anything was ever applied."""
        return bool(self.held or self.deleted or self.deletion)

    def apply(self, event: MetadataEvent) -> Outcome:
        """Take the next event; what did not succeed changed nothing."""
        if isinstance(event, RemotePartitionDeleteMetadata):
            return self._apply_deletion(event)
        added = isinstance(event, RemoteLogSegmentMetadata)
        if added is not (event.state is SegmentState.COPY_SEGMENT_STARTED):
            return Outcome.ILLEGAL  # no manager publishes such a thing, but the topic may have it
        outcome = judge_segment_event(
            self.deletion.state if self.deletion else None,
            self.highest_epoch,
            self._known(event.segment_id.id),
            event.state,
            event.leader_epoch,
        )
        if outcome is Outcome.APPLIED:
            self._keep(event)
        return outcome

    def _apply_deletion(self, event: RemotePartitionDeleteMetadata) -> Outcome:
        before = self.deletion.state if self.deletion else None
        outcome = partition_delete_transition(before, event.state)
        if outcome is Outcome.APPLIED:
            self.deletion = event
        return outcome

    def _known(self, segment_id: UUID) -> KnownSegment | None:
        if segment_id in self.deleted:
            return KnownSegment(SegmentState.DELETE_SEGMENT_FINISHED, NO_EPOCH, NO_EPOCH)
        held = self.held.get(segment_id)
        if held is None:
            return None
        return KnownSegment(held.metadata.state, held.metadata.leader_epoch, held.started_in)

    def _keep(self, event: RemoteLogSegmentMetadata | RemoteLogSegmentMetadataUpdate) -> None:
        segment_id = event.segment_id.id
        if isinstance(event, RemoteLogSegmentMetadata):
            self.held[segment_id] = HeldSegment(event, event.leader_epoch)
        elif event.state is SegmentState.DELETE_SEGMENT_FINISHED:
            del self.held[segment_id]
            self.deleted[segment_id] = None
        else:
            held = self.held[segment_id]
            self.held[segment_id] = held._replace(metadata=held.metadata.updated(event))
        self.highest_epoch = max(self.highest_epoch, event.leader_epoch)
        self._listed = None
        self._by_epoch.clear()

    def segments(self, epoch: int | None = None) -> tuple[RemoteLogSegmentMetadata, ...]:
        """All that are not deleted, ascending by start offset and id; with records of an epoch."""
        if self._listed is None:
            held = (one.metadata for one in self.held.values())
            self._listed = tuple(sorted(held, key=lambda m: (m.start_offset, m.segment_id.id)))
        if epoch is None:
            return self._listed
        return tuple(
            one for one in self._listed if any(part.epoch == epoch for part in ranges_of(one))
        )

    def segment_for(self, epoch: int, offset: int) -> RemoteLogSegmentMetadata | None:
        """The finished segment to read an offset of an epoch from."""
        found = preferred(tuple(self._index(epoch).holding(offset)))
        return None if found is None else self.held[found.id].metadata

    def highest_offset_for_epoch(self, epoch: int) -> int | None:
        """The highest offset of an epoch in a finished segment."""
        return self._index(epoch).highest

    def _index(self, epoch: int) -> _EpochIndex:
        index = self._by_epoch.get(epoch)
        if index is None:
            index = self._by_epoch[epoch] = _EpochIndex(epoch, self.segments())
        return index


class _EpochIndex:
    """The ranges of one epoch in finished segments, by where they begin."""

    def __init__(self, epoch: int, segments: Iterable[RemoteLogSegmentMetadata]) -> None:
        found = [
            (part.first, Candidate(part.last, one.event_timestamp_ms, one.segment_id.id))
            for one in segments
            if one.finished
            for part in ranges_of(one)
            if part.epoch == epoch
        ]
        found.sort()
        self._firsts = [first for first, _ in found]
        self._candidates = [candidate for _, candidate in found]
        self._reach: list[int] = []  # how far the ranges up to here go at most
        for candidate in self._candidates:
            self._reach.append(max(candidate.last, self._reach[-1] if self._reach else -1))

    @property
    def highest(self) -> int | None:
        """The highest offset of all of them."""
        return self._reach[-1] if self._reach else None

    def holding(self, offset: int) -> Iterator[Candidate]:
        """Those that hold an offset."""
        for at in range(bisect_right(self._firsts, offset) - 1, -1, -1):
            if self._reach[at] < offset:
                return
            if self._candidates[at].last >= offset:
                yield self._candidates[at]
