"""Finding records of remote segments by their timestamps.

By timestamp: the first record, by offset, that is not earlier. By the maximum: of the records with
the highest timestamp, the one with the lowest offset (G-29). What is known of a segment tells
whether it is worth a look, its time index where to begin. An entry of the index is believed if the
batch that it names has its timestamp; else the index is rebuilt.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.kafka.batches import LOG_OVERHEAD, NO_TIMESTAMP, Batch, batches, intact
from reference_impl.kafka.errors import KafkaError
from reference_impl.kafka.records import records
from reference_impl.log.decisions import may_be_as_late
from reference_impl.log.searches import TimestampOffset, first_record
from reference_impl.ports.workers import Workers
from reference_impl.tiered.lineage_walk import LogView, SegmentRange
from reference_impl.tiered.remote_indexes import RemoteIndexes
from reference_impl.tiered.segments import RemoteLogSegmentMetadata
from reference_impl.tiered.selecting import Begins, batch_of_lineage, epoch_at
from reference_impl.tiered.storage import RemoteStorageException, RemoteStorageManager

_WINDOW_BYTES = 128 << 10


class _Found(NamedTuple):
    """A batch of a segment, with its bytes."""

    batch: Batch
    data: bytes


@decision("later-record", rules=("TS-029",))
def later_record(timestamp: int, offset: int, than_timestamp: int, than_offset: int) -> bool:
    """The higher timestamp counts, of equal ones the lower offset."""
    return (timestamp, -offset) > (than_timestamp, -than_offset)


class TimestampSearches:
    """See the module."""

    def __init__(
        self, storage: RemoteStorageManager, indexes: RemoteIndexes, workers: Workers
    ) -> None:
        self._storage = storage
        self._indexes = indexes
        self._workers = workers

    async def first(
        self, view: LogView, parts: Sequence[SegmentRange], timestamp: int
    ) -> TimestampOffset | None:
        """The first record of these parts, in their order, that is not earlier."""
        for part in parts:
            if may_be_as_late(part.segment.max_timestamp_ms, timestamp):
                found = await self._first_in(view, part, timestamp)
                if found is not None:
                    return found
        return None

    async def _first_in(
        self, view: LogView, part: SegmentRange, timestamp: int
    ) -> TimestampOffset | None:
        begin = await self._begin(view, part, timestamp)
        async with aclosing(self._batches(view, part, begin)) as found:
            async for one in found:
                if may_be_as_late(one.batch.max_timestamp, timestamp):
                    record = await first_record(
                        one.data, one.batch, timestamp, part.start, self._workers
                    )
                    if record is not None and record.offset <= part.end:
                        return record
        return None

    async def _begin(self, view: LogView, part: SegmentRange, timestamp: int) -> int:
        """An offset of the part before which every timestamp is lower."""
        segment = part.segment
        for anew in (False, True):
            times = await self._indexes.times(segment, view.index_interval_bytes, anew=anew)
            entry = times.entry_before(timestamp)
            if entry is None:
                break
            if await self._named(view, segment, entry[1], entry[0]):
                return max(entry[1], part.start)
        return part.start

    async def _named(
        self, view: LogView, segment: RemoteLogSegmentMetadata, offset: int, timestamp: int
    ) -> bool:
        """Whether the batch that ends with this offset has this as its highest timestamp."""
        whole = SegmentRange(segment, offset, segment.end_offset)
        async with aclosing(self._batches(view, whole, offset, any_epoch=True)) as found:
            async for one in found:
                return (one.batch.last_offset, one.batch.max_timestamp) == (offset, timestamp)
        return False

    async def latest(self, view: LogView, parts: Sequence[SegmentRange]) -> TimestampOffset | None:
        """Of the records with the highest timestamp, the first."""
        best: TimestampOffset | None = None
        by_promise = sorted(parts, key=lambda one: (-one.segment.max_timestamp_ms, one.start))
        for part in by_promise:
            promised = part.segment.max_timestamp_ms
            if best is not None and not later_record(
                promised, part.start, best.timestamp, best.offset
            ):
                continue
            found = await self._latest_in(view, part)
            if found is not None and (
                best is None
                or later_record(found.timestamp, found.offset, best.timestamp, best.offset)
            ):
                best = found
        return best

    async def _latest_in(self, view: LogView, part: SegmentRange) -> TimestampOffset | None:
        """By the batches themselves: what is known of a segment is about all of it, and a segment
        without timestamps has the time of its file there (G-37)."""
        begin = part.start
        highest = part.segment.max_timestamp_ms
        times = await self._indexes.times(part.segment, view.index_interval_bytes)
        last, offset = times.last
        if last == highest and offset <= part.end:
            named = await self._named(view, part.segment, offset, last)
            begin = max(offset, begin) if named else begin
        best: _Found | None = None
        async with aclosing(self._batches(view, part, begin)) as found:
            async for each in found:
                one = each if each.batch.base_offset >= part.start else _cut(each, part.start)
                if best is None or one.batch.max_timestamp > best.batch.max_timestamp:
                    best = one
                if best.batch.max_timestamp >= highest:
                    break
        if best is None or best.batch.max_timestamp < 0:
            return None
        latest = best.batch.max_timestamp
        return await first_record(best.data, best.batch, latest, part.start, self._workers)

    async def _batches(
        self, view: LogView, part: SegmentRange, begin: int, *, any_epoch: bool = False
    ) -> AsyncGenerator[_Found, None]:
        """The batches of a part from the one that holds an offset on."""
        segment = part.segment
        place, begins, data = await self._window(view, segment, begin)
        while place < segment.segment_size_bytes:
            used = 0
            for at, batch in _checked(data, segment, begins):
                used, begins = at + batch.size, Begins(base_offset=batch.next_offset)
                if batch.last_offset < begin:
                    continue
                cached = epoch_at(view.lineage, max(batch.base_offset, begin))
                of_lineage = any_epoch or batch_of_lineage(batch.partition_leader_epoch, cached)
                if batch.base_offset > part.end or not of_lineage:
                    return
                yield _Found(batch, data[at:used])
            count = _WINDOW_BYTES if used else _first_size(data, segment, place)
            place += used
            if place < segment.segment_size_bytes:
                data = await self._fetch(segment, place, count)

    async def _window(
        self, view: LogView, segment: RemoteLogSegmentMetadata, offset: int
    ) -> tuple[int, Begins, bytes]:
        """The bytes from a place at or before an offset on; an index that leads to no batch is
        rebuilt, once."""
        for anew in (False, True):
            index = await self._indexes.offsets(segment, view.index_interval_bytes, anew=anew)
            entry = index.entry_before(offset)
            begins = Begins(base_offset=segment.start_offset)
            place = 0
            if entry is not None:
                begins, place = Begins(last_offset=entry[0]), entry[1]
            data = await self._fetch(segment, place, _WINDOW_BYTES)
            try:
                _checked(data, segment, begins)
            except RemoteStorageException:
                if entry is None or anew:
                    raise
            else:
                break
        return place, begins, data

    async def _fetch(self, segment: RemoteLogSegmentMetadata, place: int, count: int) -> bytes:
        end = min(place + count, segment.segment_size_bytes) - 1
        return await self._storage.fetch_log_segment(segment, place, end)


def _cut(found: _Found, start: int) -> _Found:
    """A batch that begins before the log does, with the highest timestamp of what is left of it."""
    left = [one.timestamp for one in records(found.data) if one.offset >= start]
    return found._replace(batch=found.batch._replace(max_timestamp=max(left, default=NO_TIMESTAMP)))


def _checked(
    data: bytes, segment: RemoteLogSegmentMetadata, begins: Begins
) -> list[tuple[int, Batch]]:
    """The whole batches of some bytes; RemoteStorageException where one is damaged."""
    try:
        found = list(batches(data))
    except KafkaError as error:
        raise RemoteStorageException(f"{segment.segment_id.id} is damaged: {error}") from error
    for at, batch in found:
        if not begins.fits(batch) or not intact(data, at, batch):
            raise RemoteStorageException(
                f"{segment.segment_id.id} is damaged at {batch.base_offset}"
            )
        begins = Begins(base_offset=batch.next_offset)
    return found


def _first_size(data: bytes, segment: RemoteLogSegmentMetadata, place: int) -> int:
    """How much has to be fetched so that a batch is whole that is larger than the window."""
    size = int.from_bytes(data[8:LOG_OVERHEAD], "big", signed=True) + LOG_OVERHEAD
    if len(data) < LOG_OVERHEAD or not len(data) < size <= segment.segment_size_bytes - place:
        raise RemoteStorageException(f"{segment.segment_id.id} ends before its last batch does")
    return size
