"""Record batches: their headers read and stamped in place, their records left alone.

A batch (format 2, the only one that Kafka 4 takes) is a header of 61 bytes and its records, perhaps
compressed. Offset, length and leader epoch stand before the checksum and are the broker's to write;
everything behind it is the producer's and is covered by it:

    0 base offset  8 length  12 leader epoch  16 magic  17 crc | 21 attributes  23 last offset delta
    27 base timestamp  35 max timestamp  43 producer id  51 epoch  53 sequence  57 count  61 records

``batches`` walks a byte string as Kafka does: a size below the smallest possible or a magic nobody
knows is CORRUPT_MESSAGE; a tail that is too short to be whole is not there. Nothing here looks at
records (``kafka.records`` does) or checks a checksum unasked.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from crc32c import crc32c

from reference_impl.kafka.errors import ErrorCode, KafkaError

Bytes: TypeAlias = bytes | bytearray | memoryview

HEADER_BYTES = 61
LOG_OVERHEAD = 12  # offset and length: what stands before what the length counts
NO_PRODUCER_ID = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1
NO_LEADER_EPOCH = -1
MAGIC = 2

_HEADER = struct.Struct(">qiibIhiqqqhii")
_unpack = _HEADER.unpack_from
_new = tuple.__new__  # what the constructor of a named tuple calls, without the call in between
_PLACE = struct.Struct(">qiib")
_unpack_place = _PLACE.unpack_from
_UP_TO_MAGIC = _PLACE.size
_SMALLEST = 14  # of what the length counts, in the oldest format
_CRC_FROM = 21
_ATTRIBUTES_END = 23
_INT32 = 1 << 31

_COMPRESSION = 0x07
_LOG_APPEND_TIME = 0x08
_TRANSACTIONAL = 0x10
_CONTROL = 0x20


class Compression(IntEnum):
    """The codecs a batch can name; the names are those of ``compression.type``."""

    none = 0
    gzip = 1
    snappy = 2
    lz4 = 3
    zstd = 4


class Batch(NamedTuple):
    """The header of one batch."""

    base_offset: int
    length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size(self) -> int:
        """All bytes of the batch."""
        return self.length + LOG_OVERHEAD

    @property
    def last_offset(self) -> int:
        """The offset of its last record."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The offset behind it."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        """The number of its compression, which may be none that there is."""
        return self.attributes & _COMPRESSION

    @property
    def log_append_time(self) -> bool:
        """Whether its timestamps are the broker's, not the producer's."""
        return bool(self.attributes & _LOG_APPEND_TIME)

    @property
    def transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return bool(self.attributes & _TRANSACTIONAL)

    @property
    def control(self) -> bool:
        """Whether it holds markers, not data."""
        return bool(self.attributes & _CONTROL)

    @property
    def has_producer_id(self) -> bool:
        """Whether its producer is idempotent."""
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        """The sequence number of its last record; after 2^31-1 comes 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) % _INT32


def header(data: Bytes, at: int = 0) -> Batch:
    """The header at a place where a whole one is known to be."""
    return _new(Batch, _unpack(data, at))


def is_one_batch(data: Bytes | None) -> bool:
    """Whether the bytes are one batch and nothing else."""
    if data is None or len(data) < HEADER_BYTES:
        return False
    _, length, _, magic = _unpack_place(data)
    return bool(length + LOG_OVERHEAD == len(data) and magic == MAGIC)


def only_batch(data: Bytes | None) -> Batch | None:
    """The header of the batch that the bytes are, if they are one batch and nothing else."""
    return header(data) if data is not None and is_one_batch(data) else None


def short_header(data: Bytes) -> Batch:
    """The header of a batch that may be too short for one: what is missing reads as zero."""
    return header(bytes(data[:HEADER_BYTES]).ljust(HEADER_BYTES, b"\0"))


def first_batch(data: Bytes | None) -> Batch | None:
    """The header of the first whole batch, also of one that is too short for its records, or has
    something behind it; CORRUPT_MESSAGE where there cannot be one."""
    alone = only_batch(data)
    if alone is not None or data is None:
        return alone
    size = next_size(data)
    if size is None or size > len(data) or data[_UP_TO_MAGIC - 1] != MAGIC:
        return None
    return short_header(data[:size])


def begins_in_transaction(data: Bytes | None) -> bool:
    """Whether the first whole batch belongs to a transaction; the same error as `first_batch`."""
    if data is not None and is_one_batch(data):
        return bool(data[_ATTRIBUTES_END - 1] & _TRANSACTIONAL)
    batch = first_batch(data)
    return batch is not None and batch.transactional


def next_size(data: Bytes, at: int = 0) -> int | None:
    """The size of the batch that begins there, or None where too little is left to say."""
    left = len(data) - at
    if left < LOG_OVERHEAD:
        return None
    length = int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
    if length < _SMALLEST:
        raise KafkaError(
            ErrorCode.corrupt_message,
            f"Record size {length} is less than the minimum record overhead ({_SMALLEST})",
        )
    if left < _UP_TO_MAGIC:
        return None
    magic = int.from_bytes(data[at + 16 : at + 17], "big", signed=True)
    if not 0 <= magic <= MAGIC:
        raise KafkaError(ErrorCode.corrupt_message, f"Invalid magic found in record: {magic}")
    return length + LOG_OVERHEAD


def slices(data: Bytes) -> Iterator[tuple[int, int]]:
    """Where each whole batch begins and how long it is, of whatever format."""
    at = 0
    while True:
        size = next_size(data, at)
        if size is None or len(data) - at < size:
            return
        yield at, size
        at += size


def batches(data: Bytes) -> Iterator[tuple[int, Batch]]:
    """Where each whole batch begins, and its header; CORRUPT_MESSAGE where there is none."""
    for at, size in slices(data):
        if data[at + 16] != MAGIC or size < HEADER_BYTES:
            raise KafkaError(
                ErrorCode.corrupt_message,
                f"Record batch is corrupt (the size {size} is smaller than the minimum allowed "
                f"overhead {HEADER_BYTES})"
                if size < HEADER_BYTES
                else f"Invalid magic found in record: {data[at + 16]}",
            )
        yield at, header(data, at)


def checksum(data: Bytes, at: int, size: int) -> int:
    """The checksum that the batch there ought to have."""
    return int(crc32c(memoryview(data)[at + _CRC_FROM : at + size]))


def intact(data: Bytes, at: int, batch: Batch) -> bool:
    """Whether the batch there is whole and has the checksum it claims."""
    return batch.length + LOG_OVERHEAD >= HEADER_BYTES and batch.crc == checksum(
        data, at, batch.length + LOG_OVERHEAD
    )


def placed(batch: Batch, base_offset: int, leader_epoch: int) -> Batch:
    """The header with the offset and epoch that its leader gives it."""
    return _new(Batch, (base_offset, batch[1], leader_epoch, *batch[3:]))


def stamped(
    data: Bytes, at: int, batch: Batch, *, base_offset: int, leader_epoch: int
) -> bytes | memoryview:
    """The batch with the offset and epoch that its leader gives it. The checksum stays true.

    Where the bytes may be changed (a frame that was received in place), they are.
    """
    if isinstance(data, memoryview) and not data.readonly:
        _PLACE.pack_into(data, at, base_offset, batch.length, leader_epoch, batch.magic)
        return data[at : at + batch.length + LOG_OVERHEAD]
    place = _PLACE.pack(base_offset, batch.length, leader_epoch, batch.magic)
    rest = memoryview(data)[at + _UP_TO_MAGIC : at + batch.length + LOG_OVERHEAD]
    return b"".join((place, rest))


def timestamped(data: Bytes, max_timestamp: int, *, log_append_time: bool) -> bytes:
    """One batch with another maximum and kind of timestamp, and a new checksum."""
    changed = bytearray(data)
    attributes = int.from_bytes(changed[21:23], "big", signed=True)
    # Kafka writes the low byte alone: what a producer put into the high one is gone.
    attributes &= 0x77
    if log_append_time:
        attributes |= _LOG_APPEND_TIME
    changed[21:23] = attributes.to_bytes(2, "big")
    changed[35:43] = max_timestamp.to_bytes(8, "big", signed=True)
    changed[17:21] = checksum(changed, 0, len(changed)).to_bytes(4, "big")
    return bytes(changed)


def assembled(batch: Batch, payload: Bytes) -> bytes:
    """A batch of this header and these (compressed) records; length and checksum are worked out."""
    whole = batch._replace(length=HEADER_BYTES - LOG_OVERHEAD + len(payload))
    data = bytearray(b"".join((_HEADER.pack(*whole), payload)))
    data[17:21] = checksum(data, 0, len(data)).to_bytes(4, "big")
    return bytes(data)


def attributes(
    *,
    compression: Compression = Compression.none,
    log_append_time: bool = False,
    transactional: bool = False,
    control: bool = False,
) -> int:
    """The attributes of a batch, put together."""
    return (
        int(compression)
        | (_LOG_APPEND_TIME if log_append_time else 0)
        | (_TRANSACTIONAL if transactional else 0)
        | (_CONTROL if control else 0)
    )
