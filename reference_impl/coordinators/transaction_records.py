"""The records of ``__transaction_state``: a transactional id, and what is known of it.

Keys and values are Kafka's: a version of 16 bits, then the fields. Values are written in version 1
(compact, with tagged fields), and read in both. A value that is null takes the id away.
"""

from __future__ import annotations

import struct

from reference_impl.coordinators.transactions import (
    NO_PRODUCER_ID,
    Partition,
    Transaction,
    TransactionState,
)

KEY_VERSION, VALUE_VERSION = 0, 1
_BY_NUMBER = {one.number: one for one in TransactionState}
_FIXED = struct.Struct(">qhib")
_TIMES = struct.Struct(">qq")
_TAGS = (("previous_producer_id", ">q", NO_PRODUCER_ID), ("next_producer_id", ">q", NO_PRODUCER_ID))
_CLIENT_VERSION_TAG = 2


class UnknownRecord(ValueError):
    """Not a record of this log, or of a version that came later."""


def key_of(transactional_id: str) -> bytes:
    """The key of a transactional id."""
    text = transactional_id.encode()
    return struct.pack(">hh", KEY_VERSION, len(text)) + text


def id_of(key: bytes) -> str:
    """The transactional id of a key."""
    try:
        version, size = struct.unpack_from(">hh", key)
        if version != KEY_VERSION or len(key) != 4 + size:
            raise UnknownRecord(f"a key of version {version}")
        return key[4:].decode()
    except (struct.error, UnicodeDecodeError) as error:
        raise UnknownRecord("not a key") from error


def value_of(known: Transaction) -> bytes:
    """What is written of a transaction."""
    parts = [
        struct.pack(">h", VALUE_VERSION),
        _FIXED.pack(known.producer_id, known.epoch, known.timeout_ms, known.state.number),
    ]
    if known.state is TransactionState.EMPTY:
        parts.append(_uvarint(0))
    else:
        topics: dict[str, list[int]] = {}
        for topic, index in known.partitions:
            topics.setdefault(topic, []).append(index)
        parts.append(_uvarint(len(topics) + 1))
        for topic, indexes in topics.items():
            text = topic.encode()
            parts += [_uvarint(len(text) + 1), text, _uvarint(len(indexes) + 1)]
            parts += [struct.pack(f">{len(indexes)}i", *indexes), _uvarint(0)]
    parts.append(_TIMES.pack(known.updated_ms, known.started_ms))
    tags = [
        (tag, struct.pack(form, value))
        for tag, (name, form, default) in enumerate(_TAGS)
        if (value := getattr(known, name)) != default
    ]
    if known.client_version:
        tags.append((_CLIENT_VERSION_TAG, struct.pack(">h", known.client_version)))
    parts.append(_uvarint(len(tags)))
    parts += [_uvarint(tag) + _uvarint(len(data)) + data for tag, data in tags]
    return b"".join(parts)


def read_value(transactional_id: str, value: bytes) -> Transaction:
    """The transaction that a value describes; UnknownRecord if it does not."""
    try:
        return _Reader(value).transaction(transactional_id)
    except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise UnknownRecord(f"not a value of {transactional_id}") from error


class _Reader:
    """Reads one value from its beginning on."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        (self._version,) = self._take(">h")
        if self._version not in (0, VALUE_VERSION):
            raise UnknownRecord(f"a value of version {self._version}")

    def transaction(self, transactional_id: str) -> Transaction:
        producer_id, epoch, timeout_ms, state = self._take(">qhib")
        partitions = self._partitions()
        updated_ms, started_ms = self._take(">qq")
        tags = self._tags() if self._version else {}
        previous, after = (
            struct.unpack(">q", tags[tag])[0] if tag in tags else NO_PRODUCER_ID for tag in (0, 1)
        )
        client = tags.get(_CLIENT_VERSION_TAG)
        return Transaction(
            transactional_id=transactional_id,
            producer_id=producer_id,
            timeout_ms=timeout_ms,
            previous_producer_id=previous,
            next_producer_id=after,
            epoch=epoch,
            state=_BY_NUMBER[state],
            partitions=partitions,
            started_ms=started_ms,
            updated_ms=updated_ms,
            client_version=0 if client is None else struct.unpack(">h", client)[0],
        )

    def _partitions(self) -> tuple[Partition, ...]:
        found: list[Partition] = []
        for _ in range(self._count()):
            topic = self._text()
            count = self._count()
            found += [(topic, index) for index in self._take(f">{count}i")]
            if self._version:
                self._tags()
        return tuple(sorted(found))

    def _count(self) -> int:
        count = self._uvarint() - 1 if self._version else self._take(">i")[0]
        return max(0, count)

    def _text(self) -> str:
        size = self._uvarint() - 1 if self._version else self._take(">h")[0]
        text = self._data[self._at : self._at + size]
        self._at += size
        return text.decode()

    def _tags(self) -> dict[int, bytes]:
        found = {}
        for _ in range(self._uvarint()):
            tag, size = self._uvarint(), self._uvarint()
            found[tag] = self._data[self._at : self._at + size]
            self._at += size
        return found

    def _take(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return found

    def _uvarint(self) -> int:
        found = shift = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found
            shift += 7


def _uvarint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
