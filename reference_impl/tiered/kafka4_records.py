"""Records of the metadata topic as Apache Kafka writes them (C-31).

Frame version, type and version are unsigned varints, structures end in tags, texts and lists have a
varint before them. Where the document has an epoch, Kafka has the id of the broker; so an event
that is read here has no leader epoch (-1), and nothing that rests on epochs can be asked of it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from reference_impl.kafka.writers import varint
from reference_impl.log.decisions import UNDEFINED_EPOCH, EpochEntry
from reference_impl.tiered.records import BadRecord, Cursor, RecordType, SegmentFields, known_state
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

FRAME_VERSION: Final = 1
VERSION: Final = 0
_NO_TAGS: Final = b"\0"
_TXN_INDEX_EMPTY: Final = bytes((1, 0, 1, 1))  # one tag: number 0, one byte, true


@dataclass(frozen=True, slots=True, kw_only=True)
class Kafka4Record:
    """An event and what Kafka adds to it."""

    event: MetadataEvent
    broker_id: int
    custom_metadata: bytes | None = None
    txn_index_empty: bool = False


def encode_kafka4(record: Kafka4Record) -> bytes:
    """The value of the record."""
    event, broker = record.event, struct.pack(">i", record.broker_id)
    custom = _nullable(record.custom_metadata)
    if isinstance(event, RemoteLogSegmentMetadata):
        tags = _TXN_INDEX_EMPTY if record.txn_index_empty else _NO_TAGS
        return b"".join(
            (
                _frame(RecordType.SEGMENT),
                _segment_id(event.segment_id),
                struct.pack(">qq", event.start_offset, event.end_offset),
                broker,
                struct.pack(">qq", event.max_timestamp_ms, event.event_timestamp_ms),
                varint(len(event.segment_leader_epochs) + 1),
                *(struct.pack(">iq", *one) + _NO_TAGS for one in event.segment_leader_epochs),
                struct.pack(">i", event.segment_size_bytes),
                custom,
                bytes((event.state,)),
                tags,
            )
        )
    at, state = struct.pack(">q", event.event_timestamp_ms), bytes((event.state,))
    if isinstance(event, RemoteLogSegmentMetadataUpdate):
        head = _frame(RecordType.SEGMENT_UPDATE) + _segment_id(event.segment_id)
        return head + broker + at + custom + state + _NO_TAGS
    head = _frame(RecordType.PARTITION_DELETE) + _partition(event.partition)
    return head + broker + at + state + _NO_TAGS


def decode_kafka4(value: bytes | None) -> Kafka4Record:
    """What a record says; BadRecord if that is nothing known."""
    if value is None:
        raise BadRecord("no value")
    data = Cursor(value)
    frame, kind, version = (data.uvarint() for _ in range(3))
    if (frame, version) != (FRAME_VERSION, VERSION):
        raise BadRecord(f"frame {frame}, version {version} of type {kind}")
    if kind == RecordType.SEGMENT:
        record = _read_segment(data)
    elif kind == RecordType.SEGMENT_UPDATE:
        record = _read_update(data)
    elif kind == RecordType.PARTITION_DELETE:
        record = _read_deletion(data)
    else:
        raise BadRecord(f"type {kind}")
    data.end()
    return record


def _read_segment(data: Cursor) -> Kafka4Record:
    segment_id = _read_segment_id(data)
    start, end, broker, newest, at = data.unpack(">qqiqq")
    epochs = []
    for _ in range(data.uvarint() - 1):
        epochs.append(EpochEntry(*data.unpack(">iq")))
        _read_tags(data)
    (size,) = data.unpack(">i")
    custom = _read_nullable(data)
    (state,) = data.unpack(">b")
    known = known_state(SegmentState, state)
    fields = SegmentFields(start, end, UNDEFINED_EPOCH, newest, at, tuple(epochs), size, known)
    return Kafka4Record(
        event=fields.of(segment_id),
        broker_id=broker,
        custom_metadata=custom,
        txn_index_empty=_read_tags(data).get(0) == b"\x01",
    )


def _read_update(data: Cursor) -> Kafka4Record:
    segment_id = _read_segment_id(data)
    broker, at = data.unpack(">iq")
    custom = _read_nullable(data)
    (state,) = data.unpack(">b")
    _read_tags(data)
    event = RemoteLogSegmentMetadataUpdate(
        segment_id=segment_id,
        leader_epoch=UNDEFINED_EPOCH,
        event_timestamp_ms=at,
        state=known_state(SegmentState, state),
    )
    return Kafka4Record(event=event, broker_id=broker, custom_metadata=custom)


def _read_deletion(data: Cursor) -> Kafka4Record:
    partition = _read_partition(data)
    broker, at, state = data.unpack(">iqb")
    _read_tags(data)
    event = RemotePartitionDeleteMetadata(
        partition=partition,
        epoch=UNDEFINED_EPOCH,
        event_timestamp_ms=at,
        state=known_state(PartitionDeleteState, state),
    )
    return Kafka4Record(event=event, broker_id=broker)


def _frame(kind: RecordType) -> bytes:
    return varint(FRAME_VERSION) + varint(kind) + varint(VERSION)


def _partition(partition: TopicIdPartition) -> bytes:
    name = partition.topic.encode()
    number = struct.pack(">i", partition.partition)
    return varint(len(name) + 1) + name + partition.topic_id.bytes + number + _NO_TAGS


def _segment_id(segment_id: RemoteLogSegmentId) -> bytes:
    return _partition(segment_id.partition) + segment_id.id.bytes + _NO_TAGS


def _nullable(data: bytes | None) -> bytes:
    return b"\0" if data is None else varint(len(data) + 1) + data


def _read_partition(data: Cursor) -> TopicIdPartition:
    topic = data.text(data.uvarint() - 1)
    topic_id = data.uuid()
    (number,) = data.unpack(">i")
    _read_tags(data)
    return TopicIdPartition(topic_id, topic, number)


def _read_segment_id(data: Cursor) -> RemoteLogSegmentId:
    partition, segment_id = _read_partition(data), data.uuid()
    _read_tags(data)
    return RemoteLogSegmentId(partition, segment_id)


def _read_nullable(data: Cursor) -> bytes | None:
    size = data.uvarint()
    return None if size == 0 else data.take(size - 1)


def _read_tags(data: Cursor) -> dict[int, bytes]:
    tags = {}
    for _ in range(data.uvarint()):
        tag = data.uvarint()
        tags[tag] = data.take(data.uvarint())
    return tags
