"""Indexes of remote segments: fetched once, checked, rebuilt where they are missing (C-40).

    offsets, times    one that is missing, does not parse, does not rise or points beyond its
                      segment is rebuilt from the segment, with entries as far apart as in a local
                      log, and kept in the cache; nothing is uploaded
    aborted           no such object means no aborted transactions. One that does not parse is an
                      error: taken for empty, it would show aborted records to readers

Of several that want one index at the same time, one asks the remote store.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from reference_impl.decisions import decision
from reference_impl.kafka.batches import LOG_OVERHEAD, Batch, batches, intact
from reference_impl.kafka.errors import KafkaError
from reference_impl.log.indexes import CorruptIndex, OffsetIndex, TimeIndex
from reference_impl.log.transactions import AbortedTransaction, decode_aborted
from reference_impl.tiered.index_cache import IndexCache, file_name
from reference_impl.tiered.segments import RemoteLogSegmentId, RemoteLogSegmentMetadata
from reference_impl.tiered.storage import (
    IndexKind,
    RemoteResourceNotFoundException,
    RemoteStorageException,
    RemoteStorageManager,
)

Decoded = TypeVar("Decoded")

_CHUNK_BYTES = 4 << 20
_IN_MEMORY = 16  # decoded indexes; their files are bounded by the cache


@decision("batch-follows", rules=("TS-002",))
def batch_follows(base_offset: int, last_offset: int, expected: int, segment_end: int) -> bool:
    """Whether a batch can be the next one of a segment: it begins where the one before it ended.

    The base offset stands outside the checksum, which does not vouch for it."""
    return expected == base_offset <= last_offset <= segment_end


@decision("index-within-segment", rules=("TS-001",))
def index_within_segment(first: int, last: int, segment_start: int, segment_end: int) -> bool:
    """Whether an index, by its first and last offset, can be one of a segment."""
    return segment_start <= first and last <= segment_end


def decode_offsets(data: bytes, metadata: RemoteLogSegmentMetadata) -> OffsetIndex:
    """The offset index; CorruptIndex if it cannot be one of this segment."""
    start = metadata.start_offset
    index = OffsetIndex.decoded(data, start, metadata.segment_size_bytes)
    if not index_within_segment(start, index.last_offset, start, metadata.end_offset):
        raise CorruptIndex("it has an offset beyond the segment")
    return index


def decode_times(data: bytes, metadata: RemoteLogSegmentMetadata) -> TimeIndex:
    """The time index; CorruptIndex if it cannot be one of this segment."""
    start = metadata.start_offset
    index = TimeIndex.decoded(data, start)
    timestamp, offset = index.last
    if not index_within_segment(start, offset, start, metadata.end_offset):
        raise CorruptIndex("it has an offset beyond the segment")
    if timestamp > metadata.max_timestamp_ms:
        raise CorruptIndex("it has a timestamp above the highest of the segment")
    return index


def decode_transactions(
    data: bytes, metadata: RemoteLogSegmentMetadata
) -> tuple[AbortedTransaction, ...]:
    """The transaction index; CorruptIndex if it cannot be one of this segment."""
    found = decode_aborted(data)
    for one in found:
        if not 0 <= one.first_offset <= one.last_offset or not index_within_segment(
            one.last_offset, one.last_offset, metadata.start_offset, metadata.end_offset
        ):
            raise CorruptIndex("an entry ends before it begins, or beyond the segment")
    return tuple(found)


class RebuiltIndexes:
    """Both indexes of a segment, from its batches: an entry after every ``interval_bytes``.

    Batches are added in order; the first damaged one ends it, and what lies behind has no entries.
    """

    def __init__(self, base_offset: int, end_offset: int, interval_bytes: int) -> None:
        self.offsets = OffsetIndex(base_offset)
        self.times = TimeIndex(base_offset)
        self._next_offset = base_offset
        self._end_offset = end_offset
        self._interval_bytes = interval_bytes
        self._since_entry = 0
        self._place = 0
        self._latest = (-1, base_offset)  # the highest timestamp, and the end of the batch with it

    def add(self, batch: Batch) -> bool:
        """The batch that comes next; False, and nothing is done, if it cannot be that one."""
        if not batch_follows(
            batch.base_offset, batch.last_offset, self._next_offset, self._end_offset
        ):
            return False
        self._next_offset = batch.next_offset
        if batch.max_timestamp > self._latest[0]:
            self._latest = (batch.max_timestamp, batch.last_offset)
        if self._since_entry > self._interval_bytes:
            self.offsets.add(batch.last_offset, self._place)
            self.times.add(*self._latest)
            self._since_entry = 0
        self._place += batch.size
        self._since_entry += batch.size
        return True

    def finish(self) -> None:
        """There are no more batches."""
        self.times.add(*self._latest)


class RemoteIndexes:
    """See the module."""

    def __init__(self, storage: RemoteStorageManager, cache: IndexCache) -> None:
        self._storage = storage
        self._cache = cache
        self._decoded: OrderedDict[str, object] = OrderedDict()
        self._fetching: dict[str, tuple[asyncio.Lock, list[int]]] = {}

    async def offsets(
        self, metadata: RemoteLogSegmentMetadata, interval_bytes: int, *, anew: bool = False
    ) -> OffsetIndex:
        """The offset index; ``anew`` if the one there is contradicts the segment."""

        async def rebuild() -> bytes:
            return (await self._rebuild(metadata, interval_bytes)).offsets.encoded(0)

        return await self._get(metadata, IndexKind.OFFSET, decode_offsets, rebuild, anew)

    async def times(
        self, metadata: RemoteLogSegmentMetadata, interval_bytes: int, *, anew: bool = False
    ) -> TimeIndex:
        """The time index; ``anew`` if the one there is contradicts the segment."""

        async def rebuild() -> bytes:
            return (await self._rebuild(metadata, interval_bytes)).times.encoded(0)

        return await self._get(metadata, IndexKind.TIMESTAMP, decode_times, rebuild, anew)

    async def aborted(self, metadata: RemoteLogSegmentMetadata) -> tuple[AbortedTransaction, ...]:
        """The aborted transactions that end in a segment."""

        async def none() -> bytes:
            return b""

        return await self._get(metadata, IndexKind.TRANSACTION, decode_transactions, none)

    async def drop(self, segment_id: RemoteLogSegmentId) -> None:
        """Forget the indexes of a segment that is gone."""
        of_segment = f"_{segment_id.id}."
        for name in [one for one in self._decoded if of_segment in one]:
            del self._decoded[name]
        await self._cache.drop(segment_id)

    async def _get(
        self,
        metadata: RemoteLogSegmentMetadata,
        kind: IndexKind,
        decode: Callable[[bytes, RemoteLogSegmentMetadata], Decoded],
        rebuild: Callable[[], Awaitable[bytes]],
        anew: bool = False,
    ) -> Decoded:
        name = file_name(metadata, kind)
        async with self._alone(name):
            index = None if anew else self._decoded.get(name)
            if index is None:
                try:
                    if anew:
                        index = await self._kept(metadata, kind, decode, await rebuild())
                    else:
                        index = await self._load(metadata, kind, decode, rebuild)
                except CorruptIndex as error:
                    raise RemoteStorageException(f"{name} is damaged: {error}") from error
            self._decoded[name] = index
            self._decoded.move_to_end(name)
            while len(self._decoded) > _IN_MEMORY:
                self._decoded.popitem(last=False)
        return index  # type: ignore[return-value]  # what this name was decoded to

    async def _load(
        self,
        metadata: RemoteLogSegmentMetadata,
        kind: IndexKind,
        decode: Callable[[bytes, RemoteLogSegmentMetadata], Decoded],
        rebuild: Callable[[], Awaitable[bytes]],
    ) -> Decoded:
        """From the cache, else from the store, else from the segment."""
        cached = await self._cache.get(metadata, kind)
        if cached is not None:
            try:
                return decode(cached, metadata)
            except CorruptIndex:
                pass  # written by another program; what is fetched takes its place
        try:
            data = await self._storage.fetch_index(metadata, kind)
            decode(data, metadata)
        except (RemoteResourceNotFoundException, CorruptIndex) as error:
            if kind is IndexKind.TRANSACTION and isinstance(error, CorruptIndex):
                raise
            data = await rebuild()
        return await self._kept(metadata, kind, decode, data)

    async def _kept(
        self,
        metadata: RemoteLogSegmentMetadata,
        kind: IndexKind,
        decode: Callable[[bytes, RemoteLogSegmentMetadata], Decoded],
        data: bytes,
    ) -> Decoded:
        decoded = decode(data, metadata)
        await self._cache.put(metadata, kind, data)
        return decoded

    async def _rebuild(
        self, metadata: RemoteLogSegmentMetadata, interval_bytes: int
    ) -> RebuiltIndexes:
        rebuilt = RebuiltIndexes(metadata.start_offset, metadata.end_offset, interval_bytes)
        at, count = 0, _CHUNK_BYTES
        while at < metadata.segment_size_bytes:
            data = await self._storage.fetch_log_segment(metadata, at, at + count - 1)
            used = _add_intact(rebuilt, data)
            if not used and len(data) == count:  # one batch that is larger, or damaged
                wanted = int.from_bytes(data[8:LOG_OVERHEAD], "big", signed=True) + LOG_OVERHEAD
                if count < wanted <= metadata.segment_size_bytes - at:
                    count = wanted
                    continue
            if not used:
                break
            at, count = at + used, _CHUNK_BYTES
        rebuilt.finish()
        return rebuilt

    @asynccontextmanager
    async def _alone(self, name: str) -> AsyncIterator[None]:
        """One at a time for each index; locks are kept only while they are wanted."""
        lock, wanted = self._fetching.setdefault(name, (asyncio.Lock(), [0]))
        wanted[0] += 1
        try:
            async with lock:
                yield
        finally:
            wanted[0] -= 1
            if not wanted[0]:
                del self._fetching[name]


def _add_intact(rebuilt: RebuiltIndexes, data: bytes) -> int:
    """Add the whole batches at the beginning of the bytes; how many bytes they are."""
    used = 0
    try:
        for at, batch in batches(data):
            if not intact(data, at, batch) or not rebuilt.add(batch):
                break
            used = at + batch.size
    except KafkaError:
        pass  # no batch begins there: nothing behind can be found
    return used
