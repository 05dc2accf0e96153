"""Remote segments in the order of offsets, as one replica's log goes through them.

Every offset is looked up by the epoch that the log has there (C-41). A segment is followed for as
long as it agrees with the log; where it ends or parts from it, the next offset is looked up. That
no finished segment is known for an offset is an error that may pass, never the end of the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.lineage import part_of_segment
from reference_impl.tiered.metadata import RemoteLogMetadataManager
from reference_impl.tiered.segments import RemoteLogSegmentMetadata, TopicIdPartition
from reference_impl.tiered.selecting import NO_EPOCH, epoch_at
from reference_impl.tiered.storage import RemoteStorageException


class LogView(NamedTuple):
    """What a replica's log is at one moment."""

    partition: TopicIdPartition
    lineage: tuple[EpochEntry, ...]
    log_start_offset: int
    local_start_offset: int
    index_interval_bytes: int


class SegmentRange(NamedTuple):
    """A segment, and offsets of it that are of the lineage, both included."""

    segment: RemoteLogSegmentMetadata
    start: int
    end: int


def segment_at(view: LogView, metadata: RemoteLogMetadataManager, offset: int) -> SegmentRange:
    """The segment to read an offset from, and how far; RemoteStorageException if none is known."""
    epoch = epoch_at(view.lineage, offset)
    if epoch == NO_EPOCH:
        raise RemoteStorageException(f"{view.partition}: no leader epoch is known at {offset}")
    segment = metadata.remote_log_segment_metadata(view.partition, epoch, offset)
    part = None if segment is None else part_of_segment(segment, view.lineage, offset)
    if segment is None or part is None or part.start != offset:
        raise RemoteStorageException(
            f"{view.partition}: no finished segment is known with offset {offset} in epoch {epoch}"
        )
    return SegmentRange(segment, offset, part.end)


def walk(
    view: LogView,
    metadata: RemoteLogMetadataManager,
    start: int,
    end: int,
    *,
    first: SegmentRange | None = None,
) -> Iterator[SegmentRange]:
    """The segments with the offsets from one up to, not including, another; ``first`` is known."""
    at = start
    while at < end:
        found = segment_at(view, metadata, at) if first is None else first
        first = None
        yield found._replace(end=min(found.end, end - 1))
        at = found.end + 1
