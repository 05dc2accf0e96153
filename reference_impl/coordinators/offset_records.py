"""The records of ``__consumer_offsets`` that hold offsets: how far a group is in a partition.

Keys and values are Kafka's: a number of 16 bits, then the fields. The number before a key says what
kind of record it is (0 and 1: an offset); the one before a value is its version. Values are written
in version 4 (compact, with the topic's id as a tagged field), in version 1 where a client of old
says how long to keep its offset, and read in all of them. A null value takes the offset away.
"""

from __future__ import annotations

import struct
from typing import NamedTuple
from uuid import UUID

from reference_impl.kafka.errors import WireError
from reference_impl.kafka.readers import read_varint
from reference_impl.kafka.writers import varint

OFFSET_KEYS = (0, 1)
KEY, VALUE, VALUE_THAT_EXPIRES = 1, 4, 1
NO_LEADER_EPOCH = -1
NO_EXPIRY = -1
NO_TOPIC_ID = UUID(int=0)
_TOPIC_ID_TAG = 0


class OffsetKey(NamedTuple):
    """Whose offset, and of which partition."""

    group: str
    topic: str
    partition: int


class OffsetValue(NamedTuple):
    """An offset as a group committed it."""

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_ms: int = -1
    expire_ms: int = NO_EXPIRY
    topic_id: UUID = NO_TOPIC_ID


def key_of(key: OffsetKey) -> bytes:
    """A key as it is written."""
    texts = b"".join(_text(one) for one in (key.group, key.topic))
    return struct.pack(">h", KEY) + texts + struct.pack(">i", key.partition)


def value_of(value: OffsetValue) -> bytes:
    """A value as it is written."""
    if value.expire_ms != NO_EXPIRY:
        head = struct.pack(">hq", VALUE_THAT_EXPIRES, value.offset)
        return head + _text(value.metadata) + struct.pack(">qq", value.commit_ms, value.expire_ms)
    text = value.metadata.encode()
    tags = varint(0)
    if value.topic_id != NO_TOPIC_ID:
        tags = varint(1) + varint(_TOPIC_ID_TAG) + varint(16) + value.topic_id.bytes
    return b"".join(
        (
            struct.pack(">hqi", VALUE, value.offset, value.leader_epoch),
            varint(len(text) + 1),
            text,
            struct.pack(">q", value.commit_ms),
            tags,
        )
    )


def read_key(key: bytes) -> OffsetKey | None:
    """What a key names; None if it is none of an offset: groups have records here too."""
    try:
        (kind,) = struct.unpack_from(">h", key)
        if kind not in OFFSET_KEYS:
            return None
        group, at = _read_text(key, 2)
        topic, at = _read_text(key, at)
        (partition,) = struct.unpack_from(">i", key, at)
    except (struct.error, UnicodeDecodeError):
        return None
    return OffsetKey(group, topic, partition)


def read_value(value: bytes) -> OffsetValue | None:
    """What a value says; None if it is of a version that came later."""
    try:
        version, offset = struct.unpack_from(">hq", value)
        if not 0 <= version <= VALUE:
            return None
        return _read_fields(value, version, offset)
    except (struct.error, UnicodeDecodeError, IndexError, WireError):
        return None


def _read_fields(value: bytes, version: int, offset: int) -> OffsetValue:
    at, leader_epoch, expire_ms, topic_id = 10, NO_LEADER_EPOCH, NO_EXPIRY, NO_TOPIC_ID
    if version >= 3:
        (leader_epoch,) = struct.unpack_from(">i", value, at)
        at += 4
    if version >= VALUE:
        size, at = read_varint(value, at)
        metadata, at = value[at : at + size - 1].decode(), at + size - 1
    else:
        metadata, at = _read_text(value, at)
    (commit_ms,) = struct.unpack_from(">q", value, at)
    at += 8
    if version == VALUE_THAT_EXPIRES:
        (expire_ms,) = struct.unpack_from(">q", value, at)
    if version >= VALUE:
        topic_id = _read_topic_id(value, at)
    return OffsetValue(offset, leader_epoch, metadata, commit_ms, expire_ms, topic_id)


def _read_topic_id(value: bytes, at: int) -> UUID:
    count, at = read_varint(value, at)
    found = NO_TOPIC_ID
    for _ in range(count):
        tag, at = read_varint(value, at)
        size, at = read_varint(value, at)
        if tag == _TOPIC_ID_TAG and size == 16:
            found = UUID(bytes=value[at : at + size])
        at += size
    return found


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def _read_text(data: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">h", data, at)
    end = at + 2 + size
    if end > len(data):
        raise struct.error("a text is cut off")
    return data[at + 2 : end].decode(), end
