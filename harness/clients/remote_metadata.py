"""Records of the remote log metadata topic, taken apart without the reference's own code.

A system writes the document's format or, if it claims the variant `kafka4`, Apache Kafka's
(`docs/readings.md`, C-10, C-31); which one is told and never guessed. A record that does not have
exactly the bytes of its schema is named with the reason, and nothing of it is believed.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from typing import Any
from uuid import UUID

DOCUMENT, KAFKA4 = "document", "kafka4"
_SEED, _MULTIPLIER, _SHIFT = 0x9747B28C, 0x5BD1E995, 24
_WORD = 0xFFFFFFFF
_SEGMENT, _UPDATE, _PARTITION = "segment", "update", "partition"
_STATES = {_SEGMENT: 3, _UPDATE: 3, _PARTITION: 2}

Fields = dict[str, Any]


class NoRecord(ValueError):
    """What does not fit the schema."""


class _Bytes:
    """A value, read from its beginning."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def number(self, form: str) -> int:
        size = struct.calcsize(f">{form}")
        return int(struct.unpack(f">{form}", self.take(size))[0])

    def take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if size < 0 or len(found) < size:
            raise NoRecord(f"it ends after {len(self._data)} bytes")
        self._at += size
        return found

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 28:
                raise NoRecord("a varint has more than 5 bytes")

    def uuid(self) -> str:
        return kafka_id(UUID(bytes=self.take(16)))

    def end(self) -> None:
        if self._at != len(self._data):
            raise NoRecord(f"{len(self._data) - self._at} bytes are left over")


def kafka_id(uuid: UUID) -> str:
    """An id as Kafka prints it."""
    return base64.urlsafe_b64encode(uuid.bytes).rstrip(b"=").decode()


def decode_record(value: bytes | None, form: str) -> Fields:
    """What a record says, or a `problem`."""
    try:
        if value is None:
            raise NoRecord("it has no value")
        return _DECODERS[form](_Bytes(value))
    except (NoRecord, UnicodeDecodeError) as problem:
        return {"problem": str(problem)}


def metadata_partition(topic: str, topic_id: UUID, partition: int, count: int, form: str) -> int:
    """Where the records of a user partition belong (C-17, C-32)."""
    if form == DOCUMENT:
        data = f"{topic}-{partition}".encode()
    else:
        most, least = topic_id.int >> 64, topic_id.int & ((1 << 64) - 1)
        hashed = 1
        for one in (_hash_of(least), _hash_of(most), partition):
            hashed = (31 * hashed + one) & _WORD
        data = hashed.to_bytes(4, "big")
    return (murmur2(data) & 0x7FFFFFFF) % count


def _hash_of(number: int) -> int:
    """Java's hash of a long."""
    return (number ^ (number >> 32)) & _WORD


def murmur2(data: bytes) -> int:
    """Kafka's hash of bytes, as an unsigned number of 32 bits."""
    hashed = _SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * _MULTIPLIER & _WORD
        word ^= word >> _SHIFT
        hashed = (hashed * _MULTIPLIER & _WORD) ^ (word * _MULTIPLIER & _WORD)
    if rest := data[whole:]:
        hashed = (hashed ^ int.from_bytes(rest, "little")) * _MULTIPLIER & _WORD
    hashed = (hashed ^ (hashed >> 13)) * _MULTIPLIER & _WORD
    return hashed ^ (hashed >> 15)


# ── the document's format ────────────────────────────────────────────────────────────────────────


def _document(data: _Bytes) -> Fields:
    kind, version = data.number("b"), data.number("b")
    if version != 0 or kind not in (0, 1, 2):
        raise NoRecord(f"type {kind} of version {version} is not known")
    event = (_SEGMENT, _UPDATE, _PARTITION)[kind]
    found: Fields = {
        "event": event,
        "topic": data.take(data.number("h")).decode(),
        "topic_id": data.uuid(),
        "partition": data.number("i"),
    }
    if event != _PARTITION:
        found["segment_id"] = data.uuid()
    if event == _SEGMENT:
        found |= {"start_offset": data.number("q"), "end_offset": data.number("q")}
    found["leader_epoch"] = data.number("i")
    if event == _SEGMENT:
        found["max_timestamp"] = data.number("q")
    found["event_timestamp"] = data.number("q")
    if event == _SEGMENT:
        count = data.number("i")
        found["epochs"] = [[data.number("i"), data.number("q")] for _ in range(max(0, count))]
        found["size"] = data.number("i")
    return _checked(found, data)


# ── Apache Kafka's format ────────────────────────────────────────────────────────────────────────


def _kafka4(data: _Bytes) -> Fields:
    frame, kind, version = data.varint(), data.varint(), data.varint()
    if frame != 1 or version != 0 or kind not in (0, 1, 2):
        raise NoRecord(f"type {kind} of version {version} in frame {frame} is not known")
    event = (_SEGMENT, _UPDATE, _PARTITION)[kind]
    found: Fields = {"event": event, **_topic(data)}
    if event != _PARTITION:
        found["segment_id"] = data.uuid()
        _no_tags(data)
    if event == _SEGMENT:
        found |= {"start_offset": data.number("q"), "end_offset": data.number("q")}
    found["broker_id"] = data.number("i")
    if event == _SEGMENT:
        found["max_timestamp"] = data.number("q")
    found["event_timestamp"] = data.number("q")
    if event == _SEGMENT:
        found["epochs"] = [_epoch(data) for _ in range(data.varint() - 1)]
        found["size"] = data.number("i")
    if event != _PARTITION and (size := data.varint()):
        data.take(size - 1)  # custom metadata
    return _checked(found, data, _tags)


def _topic(data: _Bytes) -> Fields:
    name = data.take(data.varint() - 1).decode()
    found = {"topic": name, "topic_id": data.uuid(), "partition": data.number("i")}
    _no_tags(data)
    return found


def _epoch(data: _Bytes) -> list[int]:
    entry = [data.number("i"), data.number("q")]
    _no_tags(data)
    return entry


def _no_tags(data: _Bytes) -> None:
    if data.varint():
        raise NoRecord("a structure has tagged fields that are not known")


def _tags(data: _Bytes) -> None:
    for _ in range(data.varint()):
        if data.varint() != 0:  # TxnIndexEmpty
            raise NoRecord("it has tagged fields that are not known")
        data.take(data.varint())


def _checked(found: Fields, data: _Bytes, rest: Callable[[_Bytes], None] | None = None) -> Fields:
    found["state"] = data.number("b")
    if rest is not None:
        rest(data)
    data.end()
    if not 0 <= found["state"] <= _STATES[found["event"]]:
        raise NoRecord(f"state {found['state']} is not known")
    return found


_DECODERS = {DOCUMENT: _document, KAFKA4: _kafka4}
