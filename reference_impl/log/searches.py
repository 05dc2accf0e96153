"""Finding records by their timestamps, as Kafka finds them.

By timestamp: the first segment that has a record as late is searched, and no other. By the maximum:
the first segment that has it, its first batch, its first record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reference_impl.kafka.records import records
from reference_impl.log.decisions import may_be_as_late, record_is_as_late
from reference_impl.log.segment import Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampOffset:
    """A record that was found: its timestamp, offset, and leader epoch (None if it has none)."""

    timestamp: int
    offset: int
    leader_epoch: int | None


async def first_at_or_after(
    segments: Sequence[Segment], timestamp: int, log_start_offset: int
) -> TimestampOffset | None:
    """The first record that is not earlier than this."""
    for segment in segments:
        if may_be_as_late(segment.largest_timestamp, timestamp):
            return await _first_in(segment, timestamp, log_start_offset)
    return None


async def _first_in(segment: Segment, timestamp: int, start: int) -> TimestampOffset | None:
    place = segment.offsets.place_before(max(segment.times.offset_before(timestamp), start))
    async for at, batch in segment.headers(place):
        if not may_be_as_late(batch.max_timestamp, timestamp):
            continue
        for record in records(await segment.file.read(at, batch.size)):
            if record.offset >= start and record_is_as_late(record.timestamp, timestamp):
                return _found(record.timestamp, record.offset, batch.partition_leader_epoch)
    return None


async def latest(segments: Sequence[Segment]) -> TimestampOffset | None:
    """The first record that has the highest timestamp of all."""
    segment = max(segments, key=lambda each: each.max_timestamp)  # the first of equals
    place = segment.offsets.place_before(segment.max_timestamp_offset)
    async for at, batch in segment.headers(place):
        if batch.max_timestamp == segment.max_timestamp:
            for record in records(await segment.file.read(at, batch.size)):
                if record_is_as_late(record.timestamp, batch.max_timestamp):
                    return _found(record.timestamp, record.offset, batch.partition_leader_epoch)
            return None
    return None


def _found(timestamp: int, offset: int, leader_epoch: int) -> TimestampOffset:
    return TimestampOffset(
        timestamp=timestamp,
        offset=offset,
        leader_epoch=leader_epoch if leader_epoch >= 0 else None,
    )
