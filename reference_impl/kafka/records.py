"""The records inside batches: read, checked, packed again, and built.

The log leaves records alone wherever it can. It needs them to validate what producers send
(``look``), to answer questions about timestamps (``records``), and where a topic's codec is not the
producer's (``repacked``). Headers of records stay the bytes they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from reference_impl.kafka.batches import (
    HEADER_BYTES,
    NO_LEADER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    Batch,
    Bytes,
    Compression,
    assembled,
    attributes,
    header,
)
from reference_impl.kafka.compression import (
    MAX_UNPACKED,
    CannotUnpack,
    TooLong,
    pack,
    scratch,
    unpack,
)
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.record_walk import (
    SOUND,
    Walked,
    skip,
    skip_headers,
    varint,
    walk_records,
)

SHORT_UNPACKED: Final = 1 << 17
"""So many bytes are unpacked and walked sooner than they are handed to another thread."""


class Record(NamedTuple):
    """One record; ``headers`` are their bytes, count and all."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: bytes = b"\0"


class Unpacked(NamedTuple):
    """The records of a batch, out of their compression, and where they are."""

    data: Bytes
    start: int
    end: int


@contextmanager
def unpacked(data: Bytes, batch: Batch) -> Iterator[Unpacked]:
    """The records of the one batch in ``data``, for as long as the block lasts.

    MESSAGE_TOO_LARGE where they are more than ``MAX_UNPACKED`` bytes.
    """
    if batch.codec == Compression.none:
        yield Unpacked(data=data, start=HEADER_BYTES, end=len(data))
        return
    with scratch() as place:
        try:
            inside = _unpacked_into(place, data, batch)
        except TooLong as error:
            raise KafkaError(
                ErrorCode.message_too_large,
                f"The records of the batch are more than {MAX_UNPACKED} bytes uncompressed",
            ) from error
        yield inside


def short_unpacked(data: Bytes, batch: Batch) -> Unpacked | None:
    """The same if that takes next to no time; None where it may take long."""
    if batch.codec == Compression.none:
        return Unpacked(data=data, start=HEADER_BYTES, end=len(data))
    if len(data) > SHORT_UNPACKED:
        return None
    try:
        return _unpacked_into(memoryview(bytearray(SHORT_UNPACKED)), data, batch)
    except TooLong:
        return None


def _unpacked_into(place: memoryview, data: Bytes, batch: Batch) -> Unpacked:
    codec = codec_of(batch)
    try:
        inside = unpack(memoryview(data)[HEADER_BYTES:], codec, place)
    except TooLong:
        raise
    except CannotUnpack as error:
        raise KafkaError(
            ErrorCode.unknown_server_error, f"Failed to decompress record stream: {error}"
        ) from error
    return Unpacked(data=inside, start=0, end=len(inside))


def codec_of(batch: Batch) -> Compression:
    """How its records are packed; UNKNOWN_SERVER_ERROR where that is not known."""
    codec = _CODECS.get(batch.codec)
    if codec is None:
        raise KafkaError(
            ErrorCode.unknown_server_error, f"Unknown compression type id: {batch.codec}"
        )
    return codec


_CODECS = {int(codec): codec for codec in Compression}


def look(inside: Unpacked, batch: Batch) -> Walked:
    """What the records say of themselves; INVALID_RECORD where they are none."""
    plain = batch.codec == Compression.none
    walked = walk_records(inside.data, inside.start, inside.end, batch.record_count, plain)
    if walked.verdict != SOUND:
        raise KafkaError(ErrorCode.invalid_record, "Found invalid record structure")
    return walked


def records(data: Bytes, at: int = 0) -> Iterator[Record]:
    """The records of the batch at that place, each with its own offset and timestamp."""
    batch = header(data, at)
    one = memoryview(data)[at : at + batch.size]
    with unpacked(one, batch) as inside:
        look(inside, batch)
        yield from records_of(inside, batch)


def records_of(inside: Unpacked, batch: Batch) -> Iterator[Record]:
    """The records of a batch that was looked at."""
    data, at, end = inside.data, inside.start, inside.end
    for _ in range(batch.record_count):
        _, at = varint(data, at, end, 35)
        delta, at = varint(data, at + 1, end, 63)
        offset_delta, at = varint(data, at, end, 35)
        key_size, after_key = skip(data, at, end)
        key = bytes(data[after_key - key_size : after_key]) if key_size >= 0 else None
        value_size, after_value = skip(data, after_key, end)
        value = bytes(data[after_value - value_size : after_value]) if value_size >= 0 else None
        # Not by the size it claims: in a compressed batch nobody checked that.
        behind = skip_headers(data, after_value, end)
        yield Record(
            batch.base_offset + offset_delta,
            batch.max_timestamp if batch.log_append_time else batch.base_timestamp + delta,
            key,
            value,
            bytes(data[after_value:behind]),
        )
        at = behind


def repacked(inside: Unpacked, batch: Batch, codec: Compression, level: int | None) -> bytes:
    """A batch of the same records in another codec, its offsets counted from 0 again."""
    walked = look(inside, batch)
    payload: Bytes = memoryview(inside.data)[inside.start : inside.end]
    if walked.out_of_place:
        payload = b"".join(
            _encoded(record, record.timestamp - batch.base_timestamp, index)
            for index, record in enumerate(records_of(inside, batch))
        )
    changed = batch._replace(
        attributes=(batch.attributes & ~0x07) | codec,
        last_offset_delta=batch.record_count - 1,
    )
    return assembled(changed, pack(payload, codec, level))


def build_batch(
    entries: Iterable[tuple[int, bytes | None, bytes | None]],
    *,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
    compression: Compression = Compression.none,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = -1,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
) -> bytes:
    """A batch of these (timestamp, key, value), as a producer sends it."""
    listed = list(entries)
    base_timestamp = listed[0][0] if listed else NO_TIMESTAMP
    payload = b"".join(
        _encoded(Record(index, timestamp, key, value), timestamp - base_timestamp, index)
        for index, (timestamp, key, value) in enumerate(listed)
    )
    return assembled(
        Batch(
            base_offset=base_offset,
            length=0,
            partition_leader_epoch=leader_epoch,
            magic=2,
            crc=0,
            attributes=attributes(
                compression=compression, transactional=transactional, control=control
            ),
            last_offset_delta=len(listed) - 1,
            base_timestamp=base_timestamp,
            max_timestamp=max((entry[0] for entry in listed), default=NO_TIMESTAMP),
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            record_count=len(listed),
        ),
        pack(payload, compression),
    )


def _encoded(record: Record, delta: int, offset_delta: int) -> bytes:
    body = b"".join(
        (
            b"\0",
            _number(delta),
            _number(offset_delta),
            _nullable(record.key),
            _nullable(record.value),
            record.headers,
        )
    )
    return _number(len(body)) + body


def _nullable(data: bytes | None) -> bytes:
    return _number(-1) if data is None else _number(len(data)) + data


def _number(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
