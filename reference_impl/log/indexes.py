"""The two indexes of a segment: from an offset, and from a timestamp, to a place in its file.

Sparse: an entry every ``index.interval.bytes``, for the batch that begins there. Kept in memory,
and on disk in Kafka's format: 8 bytes an entry of ``.index`` (offset relative to the segment's,
place) and 12 of ``.timeindex`` (timestamp, relative offset). An index is worth nothing by itself:
what is missing or wrong on disk is made again from the log, so entries are only written when the
segment is flushed, rolled or closed.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import Protocol

from reference_impl.ports.disk import Disk

_OFFSET_ENTRY = 8
_TIME_ENTRY = 12
_TIME = struct.Struct(">qI")


class CorruptIndex(ValueError):
    """The file of an index contradicts itself or the log it belongs to."""


class Index(Protocol):
    """What both kinds have in common."""

    entry_bytes: int
    on_disk: int  # how many of its entries the file begins with
    stale: bool  # whether the file may go on with others

    def __len__(self) -> int: ...

    def encoded(self, first: int) -> bytes:
        """The entries from that one on, as they are on disk."""
        ...


class OffsetIndex:
    """Places of batches by their last offset."""

    entry_bytes = _OFFSET_ENTRY

    def __init__(self, base_offset: int) -> None:
        self.on_disk, self.stale = 0, False
        self._base = base_offset
        self._offsets = array("I")  # relative
        self._places = array("I")

    def __len__(self) -> int:
        return len(self._offsets)

    @property
    def last_offset(self) -> int:
        """The last offset of the last batch that has an entry."""
        return self._base + (self._offsets[-1] if self._offsets else 0)

    def add(self, offset: int, place: int) -> None:
        """The batch that ends with this offset begins at this place."""
        self._offsets.append(offset - self._base)
        self._places.append(place)

    def place_before(self, offset: int) -> int:
        """A place where a batch begins, at or before the one that holds the offset."""
        slot = bisect_right(self._offsets, offset - self._base)
        return self._places[slot - 1] if slot else 0

    def offset_at_or_behind(self, place: int) -> int | None:
        """The offset of the first entry that does not lie before a place.

        Where the very first entry lies there Kafka names the one behind it; so do we.
        """
        slot = bisect_left(self._places, place)
        if slot == 0 and len(self) and self._places[0] == place:
            slot = 1
        return self._base + self._offsets[slot] if slot < len(self) else None

    def entry_before(self, offset: int) -> tuple[int, int] | None:
        """The entry that this place is from: the last offset of the batch there, and the place."""
        slot = bisect_right(self._offsets, offset - self._base)
        return (self._base + self._offsets[slot - 1], self._places[slot - 1]) if slot else None

    def cut(self, offset: int) -> None:
        """Forget the entries of batches that end there or later."""
        left = next((i for i, o in enumerate(self._offsets) if o + self._base >= offset), len(self))
        del self._offsets[left:], self._places[left:]
        if left < self.on_disk:
            self.on_disk, self.stale = left, True

    def encoded(self, first: int) -> bytes:
        """The entries from that one on, as they are on disk."""
        mixed = array("I", bytes(_OFFSET_ENTRY * (len(self) - first)))
        mixed[0::2] = self._offsets[first:]
        mixed[1::2] = self._places[first:]
        mixed.byteswap()
        return mixed.tobytes()

    @classmethod
    def decoded(cls, data: bytes, base_offset: int, log_bytes: int) -> OffsetIndex:
        """The index in a file, if it can be one of a log of that many bytes."""
        if len(data) % _OFFSET_ENTRY:
            raise CorruptIndex(f"{len(data)} bytes are no whole entries")
        mixed = array("I", data)
        mixed.byteswap()
        index = cls(base_offset)
        index._offsets, index._places = mixed[0::2], mixed[1::2]
        index.on_disk = len(index)
        if not _rising(index._offsets) or not _rising(index._places):
            raise CorruptIndex("its entries do not rise")
        if index._places and index._places[-1] >= log_bytes:
            raise CorruptIndex("it points behind the end of the log")
        return index


class TimeIndex:
    """The last offset of the batch that has the highest timestamp so far, by that timestamp."""

    entry_bytes = _TIME_ENTRY

    def __init__(self, base_offset: int) -> None:
        self.on_disk, self.stale = 0, False
        self._base = base_offset
        self._timestamps = array("q")
        self._offsets = array("I")  # relative

    def __len__(self) -> int:
        return len(self._timestamps)

    @property
    def last(self) -> tuple[int, int]:
        """The highest timestamp that has an entry, and its offset; -1 if none has."""
        if not self._timestamps:
            return -1, self._base
        return self._timestamps[-1], self._base + self._offsets[-1]

    def add(self, timestamp: int, offset: int) -> None:
        """The highest timestamp so far is of the batch that ends there; said again, nothing new."""
        if timestamp > self.last[0]:
            self._timestamps.append(timestamp)
            self._offsets.append(offset - self._base)

    def offset_before(self, timestamp: int) -> int:
        """An offset before which every timestamp is lower."""
        found = self.entry_before(timestamp)
        return self._base if found is None else found[1]

    def entry_before(self, timestamp: int) -> tuple[int, int] | None:
        """The entry that this offset is from: the highest timestamp up to there, and the offset."""
        slot = bisect_right(self._timestamps, timestamp)
        return (self._timestamps[slot - 1], self._base + self._offsets[slot - 1]) if slot else None

    def cut(self, offset: int) -> None:
        """Forget the entries of batches that end there or later."""
        left = next((i for i, o in enumerate(self._offsets) if o + self._base >= offset), len(self))
        del self._offsets[left:], self._timestamps[left:]
        if left < self.on_disk:
            self.on_disk, self.stale = left, True

    def encoded(self, first: int) -> bytes:
        """The entries from that one on, as they are on disk."""
        entries = zip(self._timestamps[first:], self._offsets[first:], strict=True)
        return b"".join(_TIME.pack(*entry) for entry in entries)

    @classmethod
    def decoded(cls, data: bytes, base_offset: int) -> TimeIndex:
        """The index in a file, if it can be one."""
        if len(data) % _TIME_ENTRY:
            raise CorruptIndex(f"{len(data)} bytes are no whole entries")
        index = cls(base_offset)
        for timestamp, offset in _TIME.iter_unpack(data):
            index._timestamps.append(timestamp)
            index._offsets.append(offset)
        index.on_disk = len(index)
        if not _rising(index._timestamps) or list(index._offsets) != sorted(index._offsets):
            raise CorruptIndex("its entries do not rise")
        return index


def is_full(offsets: OffsetIndex, times: TimeIndex, index_bytes: int) -> bool:
    """Whether no entry fits any more; the time index keeps one free for the end of the segment."""
    return (
        len(offsets) >= index_bytes // _OFFSET_ENTRY or len(times) >= index_bytes // _TIME_ENTRY - 1
    )


async def save(disk: Disk, path: str, index: Index) -> None:
    """Bring the file of an index up to date, unsynced."""
    if index.on_disk == len(index) and not index.stale:
        return
    file = await disk.open(path)
    try:
        kept = index.on_disk * index.entry_bytes
        # What was cut, and whatever an earlier attempt may have left behind.
        if await file.size() > kept:
            await file.truncate(kept)
        index.stale = True
        if len(index) > index.on_disk:
            await file.append(index.encoded(index.on_disk))
        index.on_disk, index.stale = len(index), False
    finally:
        await file.close()


def _rising(values: array[int]) -> bool:
    return all(before < after for before, after in pairwise(values))
