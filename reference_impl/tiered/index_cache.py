"""Indexes of remote segments on this disk, within a limit: the least recently used go first.

    <log dir>/remote-log-index-cache/<start offset>_<segment id>.index | .timeindex | .txnindex

A file is an index as the remote store has it, or as it was rebuilt, and a checksum behind it. It is
written under another name first; what a crash or a damaged disk left is found by the checksum and
counts as not cached. The cache is a help and nothing else: a disk that fails costs remote calls.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from crc32c import crc32c

from reference_impl.decisions import decision
from reference_impl.log.checkpoints import overwrite_file, read_file
from reference_impl.ports.disk import Disk
from reference_impl.tiered.segments import RemoteLogSegmentId, RemoteLogSegmentMetadata
from reference_impl.tiered.storage import IndexKind

FOLDER = "remote-log-index-cache"
SUFFIXES = {
    IndexKind.OFFSET: ".index",
    IndexKind.TIMESTAMP: ".timeindex",
    IndexKind.TRANSACTION: ".txnindex",
}
_UNFINISHED = ".tmp"
_CHECKSUM_BYTES = 4


@decision("cached-to-evict")
def cached_to_evict(sizes: tuple[int, ...], limit: int) -> int:
    """How many of the least recently used files go, so that the rest is within the limit."""
    left, count = sum(sizes), 0
    while left > limit and count < len(sizes):
        left -= sizes[count]
        count += 1
    return count


def file_name(metadata: RemoteLogSegmentMetadata, kind: IndexKind) -> str:
    """What the file of an index is called."""
    return f"{metadata.start_offset:020}_{metadata.segment_id.id}{SUFFIXES[kind]}"


class IndexCache:
    """See the module. ``limit_bytes`` may change while it is used."""

    def __init__(self, disk: Disk, log_dir: str, limit_bytes: Callable[[], int]) -> None:
        self._disk = disk
        self._folder = f"{log_dir}/{FOLDER}" if log_dir else FOLDER
        self._limit_bytes = limit_bytes
        self._sizes: OrderedDict[str, int] = OrderedDict()  # the least recently used first
        self._found = False  # whether what an earlier life left has been looked for
        self._turn = asyncio.Lock()  # of those who change files

    @property
    def total_bytes(self) -> int:
        """How much is cached, as far as it is known."""
        return sum(self._sizes.values())

    async def get(self, metadata: RemoteLogSegmentMetadata, kind: IndexKind) -> bytes | None:
        """The index, None if it is not here or damaged."""
        name = file_name(metadata, kind)
        await self._look()
        if name not in self._sizes:
            return None
        try:
            data = await read_file(self._disk, self._path(name))
        except OSError:
            data = None
        index = None if data is None else _checked(data)
        if index is None:
            await self._remove([name])
        elif name in self._sizes:
            self._sizes.move_to_end(name)
        return index

    async def put(self, metadata: RemoteLogSegmentMetadata, kind: IndexKind, index: bytes) -> None:
        """Keep an index, and let go of others for it; one beyond the limit is not kept."""
        name = file_name(metadata, kind)
        data = index + int(crc32c(index)).to_bytes(_CHECKSUM_BYTES, "big")
        await self._look()
        limit = self._limit_bytes()
        if len(data) > limit:
            return
        try:
            async with self._turn:
                await overwrite_file(self._disk, self._path(name) + _UNFINISHED, data)
                await self._disk.rename(self._path(name) + _UNFINISHED, self._path(name))
                self._sizes[name] = len(data)
                self._sizes.move_to_end(name)
        except OSError:
            await self._remove([name, name + _UNFINISHED])
        surplus = cached_to_evict(tuple(self._sizes.values()), limit)
        await self._remove(list(self._sizes)[:surplus])

    async def drop(self, segment_id: RemoteLogSegmentId) -> None:
        """Forget the indexes of a segment."""
        await self._look()
        of_segment = f"_{segment_id.id}."
        await self._remove([name for name in self._sizes if of_segment in name])

    async def _look(self) -> None:
        """Learn, once, what is there from before."""
        if not self._found:
            await self._find()

    async def _find(self) -> None:
        """What is there; what was not finished is removed."""
        async with self._turn:
            if self._found:
                return
            unfinished = []
            try:
                for name in await self._disk.names(self._folder):
                    if name.endswith(_UNFINISHED):
                        unfinished.append(name)
                    elif name.endswith(tuple(SUFFIXES.values())):
                        self._sizes[name] = await self._size(name)
            except OSError:
                self._sizes.clear()
            self._found = True
        await self._remove(unfinished)

    async def _size(self, name: str) -> int:
        file = await self._disk.open(self._path(name), create=False)
        try:
            return await file.size()
        finally:
            await file.close()

    async def _remove(self, names: list[str]) -> None:
        """Take files away; one that cannot be removed is not counted any more."""
        for name in names:
            self._sizes.pop(name, None)
            try:
                async with self._turn:
                    await self._disk.remove(self._path(name))
            except OSError:
                continue

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"


def _checked(data: bytes) -> bytes | None:
    index, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    expected = int(crc32c(index)).to_bytes(_CHECKSUM_BYTES, "big")
    return index if checksum == expected else None
