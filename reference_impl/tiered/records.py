"""Records of the metadata topic as bytes: type, version, payload (C-10, C-11).

    type 0   RemoteLogSegmentMetadataRecord          a copy begins
    type 1   RemoteLogSegmentMetadataRecordUpdate    a later state
    type 2   RemotePartitionDeleteMetadataRecord     a partition is being deleted

Numbers are big-endian, texts have an int16 before them, lists an int32; there are no tags. A record
that is none of these is a ``BadRecord``: those who read the topic skip it (G-28). What Apache Kafka
writes is told apart by no byte of it, so the caller says what is read (``kafka4_records``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from enum import IntEnum
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.segments import (
    MetadataEvent,
    PartitionDeleteState,
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    RemotePartitionDeleteMetadata,
    SegmentState,
    TopicIdPartition,
)

VERSION: Final = 0


class BadRecord(ValueError):
    """These bytes are no record, or none that is known."""


class RecordType(IntEnum):
    """What a record of the topic says."""

    SEGMENT = 0
    SEGMENT_UPDATE = 1
    PARTITION_DELETE = 2


class SegmentFields(NamedTuple):
    """What a record has of a segment behind its id, in the order of the schema."""

    start_offset: int
    end_offset: int
    epoch: int
    max_timestamp_ms: int
    event_timestamp_ms: int
    epochs: tuple[EpochEntry, ...]
    size_bytes: int
    state: SegmentState

    def of(self, segment_id: RemoteLogSegmentId) -> RemoteLogSegmentMetadata:
        """The segment of which it is said."""
        return RemoteLogSegmentMetadata(
            segment_id=segment_id,
            start_offset=self.start_offset,
            end_offset=self.end_offset,
            leader_epoch=self.epoch,
            max_timestamp_ms=self.max_timestamp_ms,
            event_timestamp_ms=self.event_timestamp_ms,
            segment_leader_epochs=self.epochs,
            segment_size_bytes=self.size_bytes,
            state=self.state,
        )


def encode_event(event: MetadataEvent) -> bytes:
    """The value of the record that says it; its key is null."""
    if isinstance(event, RemoteLogSegmentMetadata):
        head = _frame(RecordType.SEGMENT) + _segment_id(event.segment_id)
        return head + segment_fields(event)
    if isinstance(event, RemoteLogSegmentMetadataUpdate):
        head = _frame(RecordType.SEGMENT_UPDATE) + _segment_id(event.segment_id)
        return head + struct.pack(">iqb", event.leader_epoch, event.event_timestamp_ms, event.state)
    return (
        _frame(RecordType.PARTITION_DELETE) + _partition(event.partition) + deletion_fields(event)
    )


def decode_event(value: bytes | None) -> MetadataEvent:
    """What a record says; BadRecord if that is nothing known."""
    if value is None:
        raise BadRecord("no value")
    data = Cursor(value)
    kind, version = data.unpack(">bb")
    if version != VERSION:
        raise BadRecord(f"version {version} of type {kind}")
    try:
        decode = _DECODERS[kind]
    except KeyError:
        raise BadRecord(f"type {kind}") from None
    event = decode(data)
    data.end()
    return event


def segment_fields(metadata: RemoteLogSegmentMetadata) -> bytes:
    """Everything behind the id of a segment, as the topic and the flat file have it."""
    epochs = b"".join(struct.pack(">iq", *one) for one in metadata.segment_leader_epochs)
    return b"".join(
        (
            struct.pack(
                ">qqiqqi",
                metadata.start_offset,
                metadata.end_offset,
                metadata.leader_epoch,
                metadata.max_timestamp_ms,
                metadata.event_timestamp_ms,
                len(metadata.segment_leader_epochs),
            ),
            epochs,
            struct.pack(">ib", metadata.segment_size_bytes, metadata.state),
        )
    )


def deletion_fields(metadata: RemotePartitionDeleteMetadata) -> bytes:
    """Everything behind the partition, as the topic and the flat file have it."""
    return struct.pack(">iqb", metadata.epoch, metadata.event_timestamp_ms, metadata.state)


def read_segment_fields(data: Cursor) -> SegmentFields:
    """The inverse of ``segment_fields``."""
    start, end, epoch, newest, at, count = data.unpack(">qqiqqi")
    if not 0 <= count * 12 <= data.left:
        raise BadRecord(f"{count} epochs in {data.left} bytes")
    epochs = tuple(EpochEntry(*data.unpack(">iq")) for _ in range(count))
    size, state = data.unpack(">ib")
    known = known_state(SegmentState, state)
    return SegmentFields(start, end, epoch, newest, at, epochs, size, known)


def read_deletion_fields(
    data: Cursor, partition: TopicIdPartition
) -> RemotePartitionDeleteMetadata:
    """The inverse of ``deletion_fields``."""
    epoch, at, state = data.unpack(">iqb")
    return RemotePartitionDeleteMetadata(
        partition=partition,
        epoch=epoch,
        event_timestamp_ms=at,
        state=known_state(PartitionDeleteState, state),
    )


State = TypeVar("State", bound=IntEnum)


def known_state(states: type[State], number: int) -> State:
    """The state with this number, if there is one."""
    try:
        return states(number)
    except ValueError:
        raise BadRecord(f"state {number}") from None


class Cursor:
    """Bytes that are read from the front; BadRecord where there are too few."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes have not been read."""
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if not 0 <= count <= self.left:
            raise BadRecord(f"{count} bytes wanted, {self.left} left")
        self._at += count
        return self._data[self._at - count : self._at]

    def unpack(self, form: str) -> tuple[int, ...]:
        """The next numbers."""
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def text(self, size: int) -> str:
        """A text of so many bytes."""
        try:
            return self.take(size).decode()
        except UnicodeDecodeError as error:
            raise BadRecord(f"no text: {error}") from None

    def uuid(self) -> UUID:
        """An id, its most significant byte first."""
        return UUID(bytes=self.take(16))

    def uvarint(self, bits: int = 32) -> int:
        """A number in groups of seven bits, the lowest first."""
        value = 0
        for shift in range(0, bits, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
        else:
            raise BadRecord("a number without end")
        if value >> bits:
            raise BadRecord(f"a number of more than {bits} bits")
        return value

    def end(self) -> None:
        """There is nothing more."""
        if self.left:
            raise BadRecord(f"{self.left} bytes left over")


def name_bytes(topic: str) -> bytes:
    """A text with its length before it."""
    data = topic.encode()
    return struct.pack(">h", len(data)) + data


def _frame(kind: RecordType) -> bytes:
    return bytes((kind, VERSION))


def _partition(partition: TopicIdPartition) -> bytes:
    return b"".join(
        (
            name_bytes(partition.topic),
            partition.topic_id.bytes,
            struct.pack(">i", partition.partition),
        )
    )


def _segment_id(segment_id: RemoteLogSegmentId) -> bytes:
    return _partition(segment_id.partition) + segment_id.id.bytes


def _read_partition(data: Cursor) -> TopicIdPartition:
    topic = data.text(*data.unpack(">h"))
    topic_id = data.uuid()
    return TopicIdPartition(topic_id, topic, *data.unpack(">i"))


def _read_segment_id(data: Cursor) -> RemoteLogSegmentId:
    return RemoteLogSegmentId(_read_partition(data), data.uuid())


def _read_segment(data: Cursor) -> MetadataEvent:
    segment_id = _read_segment_id(data)
    return read_segment_fields(data).of(segment_id)


def _read_update(data: Cursor) -> MetadataEvent:
    segment_id = _read_segment_id(data)
    epoch, at, state = data.unpack(">iqb")
    return RemoteLogSegmentMetadataUpdate(
        segment_id=segment_id,
        leader_epoch=epoch,
        event_timestamp_ms=at,
        state=known_state(SegmentState, state),
    )


def _read_deletion(data: Cursor) -> MetadataEvent:
    partition = _read_partition(data)
    return read_deletion_fields(data, partition)


_DECODERS: Final[dict[int, Callable[[Cursor], MetadataEvent]]] = {
    RecordType.SEGMENT: _read_segment,
    RecordType.SEGMENT_UPDATE: _read_update,
    RecordType.PARTITION_DELETE: _read_deletion,
}
