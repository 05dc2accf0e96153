"""The storage manager on the object-store port: a prefix for each copy, an object for each part.

    <key.prefix>/<topic id>/<partition>/<start offset>-<segment id>/<part>

The id of the copy is in every key, so two copies of a segment never share an object. The indexes
are put before the segment: what has a segment has its indexes. Deletion names the six keys that
there can be and lists nothing, so it also removes what a failed copy left behind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from reference_impl.decisions import decision
from reference_impl.ports import Ports
from reference_impl.ports.object_store import ObjectNotFound, StoreError, check_key
from reference_impl.tiered.segments import RemoteLogSegmentMetadata
from reference_impl.tiered.storage import (
    IndexKind,
    LogSegmentData,
    RemoteResourceNotFoundException,
    RemoteStorageException,
)

KEY_PREFIX = "key.prefix"
"""The setting of this manager: what its keys begin with (`rsm.config.key.prefix`)."""
DEFAULT_KEY_PREFIX = "tiered"
LARGEST_POSITION = 2**31 - 1

SEGMENT_PART = "segment.log"
INDEX_PARTS: Mapping[IndexKind, str] = {
    IndexKind.OFFSET: "offset.index",
    IndexKind.TIMESTAMP: "time.index",
    IndexKind.PRODUCER_SNAPSHOT: "producer.snapshot",
    IndexKind.TRANSACTION: "transaction.index",
    IndexKind.LEADER_EPOCH: "leader-epoch.checkpoint",
}


@decision("parts-left-before", rules=("TS-110",))
def parts_left_before(given: Collection[IndexKind]) -> tuple[str, ...]:
    """What an earlier attempt of a copy may have left that this one does not replace."""
    return tuple(part for kind, part in INDEX_PARTS.items() if kind not in given)


@decision("indexes-to-put", rules=("TS-092",))
def indexes_to_put(given: Mapping[IndexKind, bytes]) -> Mapping[IndexKind, bytes]:
    """All that a segment has, also those without an entry: a reader looks for them."""
    return given


@decision("parts-of-a-copy", rules=("TS-113", "TS-094"))
def parts_of_a_copy() -> tuple[str, ...]:
    """All parts that there can be, the segment first: without it nothing is read."""
    return (SEGMENT_PART, *INDEX_PARTS.values())


@decision("range-to-fetch", rules=("TS-111",))
def range_to_fetch(start: int, end: int | None) -> tuple[int, int] | None:
    """A position and how many bytes from it on; both ends are included. None is no range."""
    last = LARGEST_POSITION if end is None else end
    return (start, last - start + 1) if 0 <= start <= last <= LARGEST_POSITION else None


@decision("store-lacks-it", rules=("TS-112",))
def store_lacks_it(error: StoreError) -> bool:
    """Whether the store said that there is no such object; any other error may pass."""
    return isinstance(error, ObjectNotFound)


def segment_prefix(metadata: RemoteLogSegmentMetadata) -> str:
    """What the keys of one copy begin with, within the manager's own prefix."""
    partition = metadata.partition
    return (
        f"{partition.topic_id}/{partition.partition}/"
        f"{metadata.start_offset:020}-{metadata.segment_id.id}"
    )


class ObjectStorageManager:
    """A RemoteStorageManager on the object store of a node."""

    def __init__(self, ports: Ports) -> None:
        self._store = ports.object_store
        self._key_prefix = DEFAULT_KEY_PREFIX

    def configure(self, configs: Mapping[str, str]) -> None:
        """Take the key prefix; a prefix that no store would take is a ValueError."""
        key_prefix = configs.get(KEY_PREFIX, DEFAULT_KEY_PREFIX)
        check_key(key_prefix)
        self._key_prefix = key_prefix

    async def copy_log_segment_data(
        self, metadata: RemoteLogSegmentMetadata, data: LogSegmentData
    ) -> None:
        """Indexes first, the segment last."""
        indexes = indexes_to_put(data.indexes())
        with _as_remote(f"copying {segment_prefix(metadata)}"):
            if absent := parts_left_before(indexes):
                await self._store.delete([self._key(metadata, part) for part in absent])
            for kind, index in indexes.items():
                await self._store.put(self._index_key(metadata, kind), index)
            await self._store.put(self._key(metadata, SEGMENT_PART), data.segment)

    async def fetch_log_segment(
        self, metadata: RemoteLogSegmentMetadata, start: int, end: int | None = None
    ) -> bytes:
        """A range of the segment's object."""
        wanted = range_to_fetch(start, end)
        if wanted is None:
            raise ValueError(f"no positions of a segment: {start} to {end}")
        key = self._key(metadata, SEGMENT_PART)
        with _as_remote(f"reading {key}"):
            return await self._store.get_range(key, *wanted)

    async def fetch_index(self, metadata: RemoteLogSegmentMetadata, kind: IndexKind) -> bytes:
        """The whole object of an index."""
        key = self._index_key(metadata, kind)
        with _as_remote(f"reading {key}"):
            return await self._store.get(key)

    async def delete_log_segment_data(self, metadata: RemoteLogSegmentMetadata) -> None:
        """All of it, also what a failed copy left."""
        with _as_remote(f"deleting {segment_prefix(metadata)}"):
            await self._store.delete([self._key(metadata, part) for part in parts_of_a_copy()])

    async def close(self) -> None:
        """Nothing is held: the store belongs to the node."""

    def _index_key(self, metadata: RemoteLogSegmentMetadata, kind: IndexKind) -> str:
        return self._key(metadata, INDEX_PARTS[kind])

    def _key(self, metadata: RemoteLogSegmentMetadata, part: str) -> str:
        return f"{self._key_prefix}/{segment_prefix(metadata)}/{part}"


@contextmanager
def _as_remote(what: str) -> Iterator[None]:
    """Errors of the store in the words of the plug-in."""
    try:
        yield
    except StoreError as error:
        missing = store_lacks_it(error)
        raised = RemoteResourceNotFoundException if missing else RemoteStorageException
        raise raised(f"{what}: {error}") from error
