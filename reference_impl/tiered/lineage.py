"""Segments and leader epochs: which offsets of a copy belong to the log of this replica.

The lineage is the list of leader epochs of this replica's log with their start offsets. Leaders
that were replaced may have copied offsets that are not in it. A record is known by its offset and
its epoch, so an offset of a segment is of the lineage if both give it the same epoch.

All offsets here are inclusive at both ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.segments import RemoteLogSegmentMetadata


class OffsetRange(NamedTuple):
    """Offsets from one to another, both included."""

    start: int
    end: int

    def holds(self, other: OffsetRange) -> bool:
        """Whether it has all offsets of the other."""
        return self.start <= other.start and other.end <= self.end


class SegmentPart(NamedTuple):
    """A segment, and its offsets at or above the log start that are of the lineage."""

    segment: RemoteLogSegmentMetadata
    part: OffsetRange


@decision("range-of-epoch", rules=("TS-034",))
def range_of_epoch(
    entries: Sequence[EpochEntry], number: int, start: int, end: int
) -> OffsetRange | None:
    """The offsets of one of the epochs of a segment, cut to the segment (C-15)."""
    after = entries[number + 1].start_offset - 1 if number + 1 < len(entries) else end
    found = OffsetRange(max(entries[number].start_offset, start), min(after, end))
    return found if found.start <= found.end else None


def epoch_ranges(
    entries: Sequence[EpochEntry], start: int, end: int
) -> list[tuple[int, OffsetRange]]:
    """Each epoch with a record between two offsets, with its records there."""
    ranges = [
        (entries[number].epoch, range_of_epoch(entries, number, start, end))
        for number in range(len(entries))
    ]
    return [(epoch, found) for epoch, found in ranges if found is not None]


@decision("part-of-segment", rules=("TS-053", "TS-095"))
def part_of_segment(
    segment: RemoteLogSegmentMetadata, lineage: Sequence[EpochEntry], log_start_offset: int
) -> OffsetRange | None:
    """The offsets of a segment that a reader of this lineage may be given, from the log start on.

    Where two logs have parted they do not meet again: the part ends with the first difference.
    """
    start = max(segment.start_offset, log_start_offset)
    ours = dict(epoch_ranges(lineage, start, segment.end_offset))
    part: OffsetRange | None = None
    for epoch, theirs in epoch_ranges(segment.segment_leader_epochs, start, segment.end_offset):
        mine = ours.get(epoch)
        if mine is None:
            continue
        both = OffsetRange(max(mine.start, theirs.start), min(mine.end, theirs.end))
        if both.start > both.end:
            continue
        if part is None:
            part = both
        elif both.start == part.end + 1:
            part = OffsetRange(part.start, both.end)
    return part


def parts_of_lineage(
    segments: Iterable[RemoteLogSegmentMetadata],
    lineage: Sequence[EpochEntry],
    log_start_offset: int,
) -> list[SegmentPart]:
    """The finished segments of the lineage, in the order of their parts."""
    found = [
        SegmentPart(one, part)
        for one in segments
        if one.finished and (part := part_of_segment(one, lineage, log_start_offset)) is not None
    ]
    return sorted(found, key=lambda one: (one.part, one.segment.segment_id.id))


@decision("first-offset-held", rules=("TS-037",))
def first_offset_held(
    segments: Iterable[RemoteLogSegmentMetadata],
    lineage: Sequence[EpochEntry],
    log_start_offset: int,
    local_log_start_offset: int,
) -> int:
    """Where the log begins that is still there: its local part, or the first finished segment.

    A leader deletes segments as soon as its log start has passed them; one that takes over before
    it was told of that log start has to take it from what is left.
    """
    if log_start_offset >= local_log_start_offset:
        return log_start_offset
    parts = parts_of_lineage(segments, lineage, log_start_offset)
    return min([local_log_start_offset, *(one.part.start for one in parts)])


@decision("highest-remote-offset", rules=("TS-023", "TS-056"))
def highest_remote_offset(
    lineage: Sequence[EpochEntry], highest_for_epoch: Callable[[int], int | None]
) -> int | None:
    """The highest offset of the lineage in a finished segment: from the latest epoch down, the
    first that has one; an epoch ends where the next one of the lineage begins."""
    below: int | None = None
    for entry in reversed(lineage):
        highest = highest_for_epoch(entry.epoch)
        if highest is not None and highest >= entry.start_offset:
            return highest if below is None else min(highest, below - 1)
        below = entry.start_offset
    return None


@decision("segment-leader-epochs", rules=("TS-088",))
def segment_leader_epochs(
    lineage: Sequence[EpochEntry], start: int, end: int
) -> tuple[EpochEntry, ...]:
    """The epochs with a record in a segment, each with its start in the epoch cache (C-15)."""
    starts = dict(lineage)
    return tuple(EpochEntry(epoch, starts[epoch]) for epoch, _ in epoch_ranges(lineage, start, end))


@decision("epochs-of-copy", rules=("TS-044",))
def epochs_of_copy(lineage: Sequence[EpochEntry], end: int) -> tuple[EpochEntry, ...]:
    """The leader-epoch object of a copy: all that is known up to the end of the segment."""
    return tuple(one for one in lineage if one.start_offset <= end)
