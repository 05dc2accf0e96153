"""A segment: a file of batches, and what is known about them.

Batches are only ever added at the end or cut from it. ``size`` is the size as far as the log knows:
a write that failed or was given up may have left bytes behind it, which the next one removes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing, suppress
from itertools import islice

from reference_impl.kafka.batches import HEADER_BYTES, LOG_OVERHEAD, Batch, header
from reference_impl.log.checkpoints import read_file
from reference_impl.log.decisions import read_begins_with
from reference_impl.log.indexes import CorruptIndex, OffsetIndex, TimeIndex, is_full, save
from reference_impl.log.transactions import TransactionIndex
from reference_impl.ports.disk import Disk, File

LOG = ".log"
INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
_LOOK_AHEAD = 2048  # small batches come with the first read, of big ones not much is read in vain
_READ_AHEAD = 1 << 20
_REMEMBERED = 64


def path_of(directory: str, offset: int, suffix: str) -> str:
    """The name of a file that belongs to an offset."""
    return f"{directory}/{offset:020d}{suffix}"


class Segment:
    """One segment of a log, open."""

    def __init__(self, disk: Disk, directory: str, base_offset: int, file: File) -> None:
        self.disk = disk
        self.directory = directory
        self.base_offset = base_offset
        self.file = file
        self.size = 0
        self.offsets = OffsetIndex(base_offset)
        self.times = TimeIndex(base_offset)
        self.aborted = TransactionIndex()
        self.has_markers = False  # seen while it was read again
        self.max_timestamp = -1
        self.max_timestamp_offset = base_offset  # the last offset of the batch that has it
        self.first_timestamp: int | None = None  # the highest of the first batch
        self.created_ms = 0
        self.modified_ms = 0
        self.removed = False
        self._changes = 1  # so far; how many of them are synced, and which was the last to come
        self._synced = 0
        self._finished = 0
        self._torn = False
        self._bytes_since_entry = 0
        # The last batches and their places: followers, and consumers that keep up, ask for these.
        self._recent: deque[tuple[int, Batch]] = deque(maxlen=_REMEMBERED)

    @classmethod
    async def create(cls, disk: Disk, directory: str, base_offset: int, now_ms: int) -> Segment:
        """An empty segment; files of that name that are there already are emptied."""
        opened = []
        for suffix in (LOG, INDEX, TIME_INDEX):
            file = await disk.open(path_of(directory, base_offset, suffix))
            if await file.size():
                await file.truncate(0)
            opened.append(file)
        for index in opened[1:]:
            await index.close()
        await _remove_if_there(disk, path_of(directory, base_offset, TRANSACTION_INDEX))
        segment = cls(disk, directory, base_offset, opened[0])
        segment.created_ms = segment.modified_ms = now_ms
        return segment

    @classmethod
    async def open(cls, disk: Disk, directory: str, base_offset: int, now_ms: int) -> Segment:
        """The segment on disk. Its indexes are not read yet."""
        file = await disk.open(path_of(directory, base_offset, LOG), create=False)
        segment = cls(disk, directory, base_offset, file)
        segment.size = await file.size()
        segment.created_ms = segment.modified_ms = now_ms
        return segment

    def path(self, suffix: str) -> str:
        """The name of one of its files."""
        return path_of(self.directory, self.base_offset, suffix)

    async def load_indexes(self) -> None:
        """Read the indexes; CorruptIndex if one is missing or wrong."""
        offsets = await read_file(self.disk, self.path(INDEX))
        times = await read_file(self.disk, self.path(TIME_INDEX))
        if offsets is None or times is None:
            raise CorruptIndex("the file is missing")
        self.offsets = OffsetIndex.decoded(offsets, self.base_offset, self.size)
        self.times = TimeIndex.decoded(times, self.base_offset)
        # Without an aborted transaction there is no such file.
        aborted = await read_file(self.disk, self.path(TRANSACTION_INDEX))
        self.aborted = TransactionIndex.decoded(aborted or b"", self.base_offset)
        self.max_timestamp, self.max_timestamp_offset = self.times.last
        self._synced = self._changes
        if self.size >= HEADER_BYTES:
            self.first_timestamp = header(await self.file.read(0, HEADER_BYTES)).max_timestamp

    # Writing.

    async def append(
        self, data: bytes | memoryview, batches: Iterable[Batch], interval_bytes: int, now_ms: int
    ) -> None:
        """Write batches, whose headers are given, at the end."""
        if self._torn:
            await self._cut_torn()
        self._changes += 1
        self._torn = True  # until it is known to be otherwise
        await self.file.append(data)
        self._torn = False
        self.modified_ms = now_ms
        for batch in batches:
            self.note(batch, interval_bytes)

    def note(self, batch: Batch, interval_bytes: int) -> None:
        """A batch stands at the end of what is known: count it, and index it if it is time."""
        if self.first_timestamp is None:
            self.first_timestamp = batch.max_timestamp
        if batch.max_timestamp > self.max_timestamp:
            self.max_timestamp = batch.max_timestamp
            self.max_timestamp_offset = batch.last_offset
        if self._bytes_since_entry > interval_bytes:
            self.offsets.add(batch.last_offset, self.size)
            self.times.add(self.max_timestamp, self.max_timestamp_offset)
            self._bytes_since_entry = 0
        self._recent.append((self.size, batch))
        size = batch.size
        self.size += size
        self._bytes_since_entry += size

    async def forget(self) -> None:
        """Know nothing of the batches any more, to note them again from the first."""
        await _remove_if_there(self.disk, self.path(TRANSACTION_INDEX))
        self.size = self._bytes_since_entry = 0
        self._recent.clear()
        self.offsets, self.times = OffsetIndex(self.base_offset), TimeIndex(self.base_offset)
        self.aborted = TransactionIndex()
        self.offsets.stale = self.times.stale = True
        self.has_markers = False
        self.max_timestamp, self.max_timestamp_offset = -1, self.base_offset
        self.first_timestamp = None
        self._changes += 1

    async def cut(self, offset: int, now_ms: int) -> None:
        """Remove the batch that holds the offset and all behind it."""
        found = await self.find(offset)
        self._changes += 1
        self._bytes_since_entry = 0
        self._recent.clear()
        if found is not None:
            await self.file.truncate(found[0])
            self.size, self._torn = found[0], False
        self.offsets.cut(offset)
        self.times.cut(offset)
        self.aborted.cut(offset)
        if self.size == 0:
            self.created_ms, self.first_timestamp = now_ms, None
        await self._find_max_timestamp()

    async def _find_max_timestamp(self) -> None:
        """The highest timestamp: the last in the index, or of a batch behind that one."""
        self.max_timestamp, self.max_timestamp_offset = self.times.last
        place = self.offsets.place_before(self.max_timestamp_offset)
        async for _, batch in self.headers(place):
            if batch.max_timestamp > self.max_timestamp:
                self.max_timestamp = batch.max_timestamp
                self.max_timestamp_offset = batch.last_offset

    async def finish(self) -> None:
        """No batch will come any more: the file ends with the last one, and the time index gets
        the highest timestamp."""
        if self._torn:
            await self._cut_torn()
        self._changes += 1
        self._finished = self._changes
        self._recent.clear()
        self.times.add(self.max_timestamp, self.max_timestamp_offset)

    async def _cut_torn(self) -> None:
        """Remove what a write left that failed or was given up."""
        await self.file.truncate(self.size)
        self._torn = False

    async def save_indexes(self) -> None:
        """Write what the files of the indexes lack."""
        await save(self.disk, self.path(INDEX), self.offsets)
        await save(self.disk, self.path(TIME_INDEX), self.times)
        await save(self.disk, self.path(TRANSACTION_INDEX), self.aborted)

    @property
    def unsynced(self) -> bool:
        """Whether it was changed since the last sync that succeeded was begun."""
        return self._synced < self._changes

    @property
    def finish_unsynced(self) -> bool:
        """Whether it is finished, and that is not synced."""
        return self.unsynced and self._finished == self._changes

    async def sync(self) -> None:
        """Return once log and indexes, as far as they are written, survive a loss of power.

        A segment that is removed meanwhile has nothing to lose.
        """
        changes = self._changes
        try:
            await self.file.sync()
            for suffix in (INDEX, TIME_INDEX, TRANSACTION_INDEX)[
                : 3 if self.aborted.on_disk else 2
            ]:
                file = await self.disk.open(self.path(suffix), create=False)
                try:
                    await file.sync()
                finally:
                    await file.close()
        except (OSError, ValueError):
            if not self.removed:
                raise
        self._synced = max(self._synced, changes)

    async def close(self) -> None:
        """Let go of the file."""
        await self.file.close()

    async def give_up(self) -> None:
        """Let go of the file, as it is about to be removed."""
        self.removed = True
        await self.file.close()

    async def remove(self) -> None:
        """Take its files away."""
        await self.give_up()
        for suffix in (LOG, INDEX, TIME_INDEX, TRANSACTION_INDEX):
            await _remove_if_there(self.disk, self.path(suffix))

    # Reading.

    def indexes_full(self, index_bytes: int) -> bool:
        """Whether an index has no room for another entry."""
        return is_full(self.offsets, self.times, index_bytes)

    def waited_ms(self, now_ms: int, timestamp: int) -> int:
        """How long it has been growing: by its records' timestamps, or by the clock without any."""
        if self.first_timestamp is not None and self.first_timestamp >= 0:
            return timestamp - self.first_timestamp
        return now_ms - self.created_ms

    @property
    def largest_timestamp(self) -> int:
        """Its latest record's, or when it was last written to if no record has one."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_ms

    async def find(self, offset: int) -> tuple[int, Batch] | None:
        """The first batch that does not end before the offset, and its place."""
        if self._recent and offset >= self._recent[0][1].base_offset:
            return self._find_recent(offset)
        # Closed here: left to asyncio, each search would end in a task of its own.
        async with aclosing(self.headers(self.offsets.place_before(offset))) as headers:
            async for place, batch in headers:
                first = batch.base_offset
                if read_begins_with(first, first + batch.last_offset_delta, offset):
                    return place, batch
        return None

    def _find_recent(self, offset: int) -> tuple[int, Batch] | None:
        """The same, among batches that need not be read; from one that begins before it on."""
        recent = self._recent
        at = len(recent) - 1
        while at > 0 and recent[at][1].base_offset >= offset:
            at -= 1
        for place, batch in islice(recent, at, None):
            if read_begins_with(batch.base_offset, batch.last_offset, offset):
                return place, batch
        return None

    async def headers(self, place: int) -> AsyncGenerator[tuple[int, Batch], None]:
        """The headers of the batches from a place on."""
        window, start = b"", place
        while place + HEADER_BYTES <= self.size:
            if place + HEADER_BYTES > start + len(window):
                start = place
                window = await self.file.read(place, _LOOK_AHEAD)
                if len(window) < HEADER_BYTES:
                    return
            batch = header(window, place - start)
            yield place, batch
            place += batch.length + LOG_OVERHEAD

    async def whole_batches(self, place: int, end: int) -> AsyncIterator[tuple[int, bytes]]:
        """Everything between two places, a megabyte or a batch at a time, whichever is more.

        Each part begins with a batch, and the next one with the first that was not whole in it.
        """
        while place < end:
            data = await self.file.read(place, min(end - place, _READ_AHEAD))
            if len(data) >= LOG_OVERHEAD:
                size = int.from_bytes(data[8:12], "big", signed=True) + LOG_OVERHEAD
                if len(data) < size <= end - place:
                    data = await self.file.read(place, size)
            yield place, data
            used = _whole(data)
            if not used:
                return
            place += used


async def _remove_if_there(disk: Disk, path: str) -> None:
    with suppress(FileNotFoundError):
        await disk.remove(path)


def _whole(data: bytes) -> int:
    """How many bytes of it are whole batches, by their sizes alone."""
    at = 0
    while len(data) - at >= HEADER_BYTES:
        size = int.from_bytes(data[at + 8 : at + 12], "big", signed=True) + LOG_OVERHEAD
        if size < HEADER_BYTES or size > len(data) - at:
            break
        at += size
    return at
