"""Local files of a metadata manager, so that a restart does not read the topic again (C-33).

    remote-log-metadata-cache/<topic id>-<partition>           what is known of one user partition
    remote-log-metadata-cache/<topic id>-<partition>.fencing   what that file has no place for
    _rlmm_committed_offsets                                    where each metadata partition goes on

A file is replaced whole: written beside the old one, flushed, renamed, the folder flushed. The
committed offsets are written last, so they are never ahead of what the flat files hold. The topic
is the truth: a file that is not exactly right counts as missing, and the topic is read instead.

The flat file is the document's, and has the segments as they are. To judge the next event a manager
also needs what the document has no field for (``fencing_file``). Both are taken or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from reference_impl.decisions import decision
from reference_impl.kafka.writers import varint
from reference_impl.log.checkpoints import read_file, replace_file
from reference_impl.ports.disk import Disk
from reference_impl.tiered.fencing_file import Fencing, decode_fencing, encode_fencing
from reference_impl.tiered.records import (
    BadRecord,
    Cursor,
    deletion_fields,
    name_bytes,
    read_deletion_fields,
    read_segment_fields,
    segment_fields,
)
from reference_impl.tiered.segment_cache import SegmentCache
from reference_impl.tiered.segments import (
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    RemotePartitionDeleteMetadata,
    SegmentState,
    TopicIdPartition,
    id_text,
)

FOLDER: Final = "remote-log-metadata-cache"
COMMITTED_OFFSETS: Final = "_rlmm_committed_offsets"
FENCING: Final = ".fencing"
MAGIC: Final = 1
_VERSION: Final = 0
_SEGMENT, _DELETION = 0, 1


def file_name(partition: TopicIdPartition) -> str:
    """The flat file of a user partition, within the folder."""
    return f"{id_text(partition.topic_id)}-{partition.partition}"


class FlatFile(NamedTuple):
    """What a flat file says; everything below ``next_offset`` of the topic is contained."""

    next_offset: int
    segments: tuple[RemoteLogSegmentMetadata, ...]
    deletion: RemotePartitionDeleteMetadata | None


@decision("zig-zag", rules=("TS-130",))
def zig_zag(offset: int) -> int:
    """A var long: the sign is the lowest bit."""
    return (offset << 1) ^ (offset >> 63)


@decision("committed-lines", rules=("TS-131",))
def committed_lines(offsets: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    """Metadata partitions and the next offset to read of each, ascending."""
    return tuple(sorted(offsets.items()))


def encode_flat_file(
    partition: TopicIdPartition,
    next_offset: int,
    segments: Iterable[RemoteLogSegmentMetadata],
    deletion: RemotePartitionDeleteMetadata | None,
) -> bytes:
    """The bytes of a flat file; segments as listed, by start offset and id."""
    where = varint(zig_zag(next_offset))
    pieces = [varint(MAGIC), name_bytes(partition.topic), partition.topic_id.bytes, where]
    for one in segments:
        pieces.append(_entry(_SEGMENT, one.segment_id.id.bytes + segment_fields(one)))
    if deletion is not None:
        pieces.append(_entry(_DELETION, deletion_fields(deletion)))
    return b"".join(pieces)


def _entry(kind: int, payload: bytes) -> bytes:
    body = varint(kind) + varint(_VERSION) + payload
    return varint(len(body)) + body


def decode_flat_file(data: bytes, partition: TopicIdPartition) -> FlatFile:
    """What the file of a user partition says; BadRecord unless it is exactly right."""
    cursor = Cursor(data)
    if (magic := cursor.uvarint()) != MAGIC:
        raise BadRecord(f"magic {magic}")
    name, topic_id = cursor.text(*cursor.unpack(">h")), cursor.uuid()
    if (name, topic_id) != (partition.topic, partition.topic_id):
        raise BadRecord(f"the file of {name} with the id {topic_id}")
    zigzag = cursor.uvarint(64)
    next_offset = (zigzag >> 1) ^ -(zigzag & 1)
    if next_offset < 0:
        raise BadRecord(f"offset {next_offset}")
    segments: dict[UUID, RemoteLogSegmentMetadata] = {}
    deletions: list[RemotePartitionDeleteMetadata] = []
    while cursor.left:
        entry = Cursor(cursor.take(cursor.uvarint()))
        kind, version = entry.uvarint(), entry.uvarint()
        if version != _VERSION or kind not in (_SEGMENT, _DELETION):
            raise BadRecord(f"version {version} of type {kind}")
        if kind == _DELETION:
            deletions.append(read_deletion_fields(entry, partition))
        else:
            one = _read_segment(entry, partition)
            if segments.setdefault(one.segment_id.id, one) is not one:
                raise BadRecord(f"segment {one.segment_id.id} twice")
        entry.end()
    if len(deletions) > 1:
        raise BadRecord("more than one deletion")
    return FlatFile(next_offset, tuple(segments.values()), deletions[0] if deletions else None)


def _read_segment(entry: Cursor, partition: TopicIdPartition) -> RemoteLogSegmentMetadata:
    segment_id = RemoteLogSegmentId(partition, entry.uuid())
    fields = read_segment_fields(entry)
    if fields.state is SegmentState.DELETE_SEGMENT_FINISHED:
        raise BadRecord("a deleted segment is not kept")
    return fields.of(segment_id)


def encode_committed_offsets(offsets: Mapping[int, int]) -> bytes:
    """One line for each metadata partition, ascending."""
    return "".join(f"{number} {offset}\n" for number, offset in committed_lines(offsets)).encode()


def decode_committed_offsets(data: bytes) -> dict[int, int]:
    """What the file says, in any order; BadRecord if any line of it is wrong."""
    offsets: dict[int, int] = {}
    if data and not data.endswith(b"\n"):
        raise BadRecord("the last line has no end")
    for line in data.split(b"\n")[:-1]:
        words = line.split(b" ")
        if len(words) != 2 or not all(word.isdigit() for word in words):
            raise BadRecord(f"no offset: {line!r}")
        partition, offset = int(words[0]), int(words[1])
        if partition in offsets or offset >> 63:
            raise BadRecord(f"no offset: {line!r}")
        offsets[partition] = offset
    return offsets


class Kept(NamedTuple):
    """What is known of a user partition, and the metadata offset from which events are missing."""

    cache: SegmentCache
    next_offset: int


class MetadataFiles:
    """The files of one manager. Reading never fails: a file that cannot be read, or is not right,
    counts as missing, and the topic is read instead."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    async def load(self, partition: TopicIdPartition) -> Kept | None:
        """What was kept of a user partition, None where that is not all there, or not right."""
        path = f"{FOLDER}/{file_name(partition)}"
        flat = await self._read(path)
        beside = await self._read(path + FENCING)
        if flat is None or beside is None:
            return None
        try:
            known = decode_flat_file(flat, partition)
            fencing = decode_fencing(beside, flat, known.segments)
        except BadRecord:
            return None
        cache = SegmentCache.restored(
            partition,
            highest_epoch=fencing.highest_epoch,
            deletion=known.deletion,
            held=fencing.held(known.segments),
            deleted=fencing.deleted,
        )
        return Kept(cache, known.next_offset)

    async def store(self, cache: SegmentCache, next_offset: int) -> None:
        """Keep what is known of a user partition, in place of what was kept before."""
        path = f"{FOLDER}/{file_name(cache.partition)}"
        flat = encode_flat_file(cache.partition, next_offset, cache.segments(), cache.deletion)
        # Between the two the flat file does not fit the other one, and both count as missing.
        await replace_file(self._disk, path + FENCING, encode_fencing(Fencing.of(cache), flat))
        await replace_file(self._disk, path, flat)

    async def load_committed(self) -> dict[int, int] | None:
        """Where each metadata partition goes on, None where that is not known."""
        data = await self._read(COMMITTED_OFFSETS)
        try:
            return None if data is None else decode_committed_offsets(data)
        except BadRecord:
            return None

    async def store_committed(self, offsets: Mapping[int, int]) -> None:
        """To be called when the flat files hold everything below these offsets."""
        await replace_file(self._disk, COMMITTED_OFFSETS, encode_committed_offsets(offsets))

    async def _read(self, path: str) -> bytes | None:
        try:
            return await read_file(self._disk, path)
        except OSError:
            return None
