"""Finding records by their timestamps, as Kafka finds them.

By timestamp: the first segment that has a record as late is searched, and no other. By the maximum:
the first segment that has it, its first batch, its first record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from reference_impl.decisions import decision
from reference_impl.kafka.batches import Batch
from reference_impl.kafka.records import Unpacked, look, records_of, short_unpacked, unpacked
from reference_impl.log.decisions import may_be_as_late, record_is_as_late
from reference_impl.log.segment import Segment
from reference_impl.ports.workers import Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampOffset:
    """A record that was found: its timestamp, offset, and leader epoch (None if it has none)."""

    timestamp: int
    offset: int
    leader_epoch: int | None


async def first_at_or_after(
    segments: Sequence[Segment], timestamp: int, log_start_offset: int, workers: Workers
) -> TimestampOffset | None:
    """The first record that is not earlier than this."""
    for segment in segments:
        if may_be_as_late(segment.largest_timestamp, timestamp):
            return await _first_in(segment, timestamp, log_start_offset, workers)
    return None


async def _first_in(
    segment: Segment, timestamp: int, start: int, workers: Workers
) -> TimestampOffset | None:
    place = segment.offsets.place_before(max(segment.times.offset_before(timestamp), start))
    async for at, batch in segment.headers(place):
        if may_be_as_late(batch.max_timestamp, timestamp):
            data = await segment.file.read(at, batch.size)
            found = await first_record(data, batch, timestamp, start, workers)
            if found is not None:
                return found
    return None


async def latest(segments: Sequence[Segment], workers: Workers) -> TimestampOffset | None:
    """The first record that has the highest timestamp of all."""
    if not segments:
        return None  # it is being restarted
    segment = max(segments, key=lambda each: each.max_timestamp)  # the first of equals
    place = segment.offsets.place_before(segment.max_timestamp_offset)
    async for at, batch in segment.headers(place):
        if batch.max_timestamp == segment.max_timestamp:
            data = await segment.file.read(at, batch.size)
            return await first_record(data, batch, batch.max_timestamp, 0, workers)
    return None


async def first_record(
    data: bytes, batch: Batch, timestamp: int, start: int, workers: Workers
) -> TimestampOffset | None:
    """The first record of a batch that is not earlier; by a worker if unpacking may take long."""
    inside = short_unpacked(data, batch)
    if inside is not None:
        return _first(inside, batch, timestamp, start)
    return await workers.run(partial(_first_unpacked, data, batch, timestamp, start))


def _first_unpacked(
    data: bytes, batch: Batch, timestamp: int, start: int
) -> TimestampOffset | None:
    with unpacked(data, batch) as inside:
        return _first(inside, batch, timestamp, start)


def _first(inside: Unpacked, batch: Batch, timestamp: int, start: int) -> TimestampOffset | None:
    look(inside, batch)
    for record in records_of(inside, batch):
        if record.offset >= start and record_is_as_late(record.timestamp, timestamp):
            return told_of_record(record.timestamp, record.offset, batch)
    return None


@decision("told-of-record", rules=("KFK-162", "TS-030"))
def told_of_record(timestamp: int, offset: int, batch: Batch) -> TimestampOffset:
    """A record is named by its own timestamp, and by the epoch of its batch if that has one."""
    epoch = batch.partition_leader_epoch
    return TimestampOffset(
        timestamp=timestamp, offset=offset, leader_epoch=epoch if epoch >= 0 else None
    )
