"""The codecs of record batches, with a bound on what they unpack to.

A megabyte of compressed zeros can stand for gigabytes. Unpacking is therefore one pass into a place
of a fixed size, and stops where that is full. ``scratch`` is such a place: it may be filled up to
``MAX_UNPACKED`` bytes, takes memory as it is filled, and is used again and again.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import cramjam
from aiokafka.codec import gzip_encode, snappy_encode  # type: ignore[import-untyped]

from reference_impl.kafka.batches import Bytes, Compression

MAX_UNPACKED: Final = 128 << 20
_KEPT: Final = 4 << 20  # of a scratch place, for the next batch: fresh pages cost more than codecs
_XERIAL: Final = b"\x82SNAPPY\0"  # the framing of Java clients around snappy
_XERIAL_HEADER: Final = 16
_SIZE: Final = struct.Struct(">i")
_LZ4_HEADER: Final = bytes.fromhex("04224d18604082")  # independent blocks of up to 64 KiB
_LZ4_SIZE: Final = struct.Struct("<I")
_LZ4_SIZE_BITS: Final = (1 << 31) - 1  # the highest bit: not compressed
_LZ4_DEFAULT, _LZ4_FAST, _LZ4_HIGH = 9, 1, 3  # Kafka's default level is the fast compressor
_FULL: Final = ("write whole buffer", "is smaller than required")

_Unpacker = Callable[[Bytes, Bytes], int]
_UNPACKERS: Final[dict[Compression, _Unpacker]] = {
    Compression.gzip: cramjam.gzip.decompress_into,
    Compression.snappy: cramjam.snappy.decompress_raw_into,
    Compression.lz4: cramjam.lz4.decompress_into,
    Compression.zstd: cramjam.zstd.decompress_into,
}

_unused: list[mmap.mmap] = []


class CannotUnpack(ValueError):
    """The bytes are not what the codec packs, or too much."""


class TooLong(CannotUnpack):
    """More bytes come out than are let through."""


@contextmanager
def scratch() -> Iterator[memoryview]:
    """A place for unpacked records; what is in it lasts as long as the block."""
    try:
        place = _unused.pop()
    except IndexError:
        place = mmap.mmap(-1, MAX_UNPACKED)
    try:
        yield memoryview(place)
    finally:
        place.madvise(mmap.MADV_DONTNEED, _KEPT)
        _unused.append(place)


def unpack(data: Bytes, codec: Compression, place: memoryview) -> memoryview:
    """The records of a batch as they were before its codec packed them, at the start of a place."""
    if codec is Compression.snappy and bytes(data[: len(_XERIAL)]) == _XERIAL:
        return _unpack_xerial(memoryview(data), place)
    return place[: _unpack_one(data, codec, place)]


def pack(data: Bytes, codec: Compression, level: int | None = None) -> Bytes:
    """The records packed by a codec, at Kafka's own default level unless told."""
    if codec is Compression.none:
        return data
    if codec is Compression.gzip:
        return bytes(gzip_encode(data, 6 if level in (None, -1) else level))
    if codec is Compression.snappy:
        return bytes(snappy_encode(bytes(data)))
    if codec is Compression.lz4:
        return _pack_lz4(
            data, _LZ4_FAST if level in (None, _LZ4_DEFAULT) else max(_LZ4_HIGH, level)
        )
    return _pack_zstd(data, 3 if level is None else level)


def _pack_lz4(data: Bytes, level: int) -> bytes:
    """A frame of blocks without checksums, as Kafka writes it."""
    packer = cramjam.lz4.Compressor(level=level, content_checksum=False, block_linked=False)
    packer.compress(bytes(data))
    packed = bytes(packer.finish())
    parts, at = [_LZ4_HEADER], len(_LZ4_HEADER)
    while size := _LZ4_SIZE.unpack_from(packed, at)[0] & _LZ4_SIZE_BITS:
        parts.append(packed[at : at + 4 + size])
        at += 4 + size + 4  # behind a block is its checksum
    return b"".join((*parts, bytes(4)))


def _pack_zstd(data: Bytes, level: int) -> bytes:
    """As a stream of unknown length that is flushed before it ends: Kafka's way, and its size."""
    packer = cramjam.zstd.Compressor(level)
    packer.compress(bytes(data))
    return bytes(packer.flush()) + bytes(packer.finish())


def _unpack_xerial(data: memoryview, place: memoryview) -> memoryview:
    at, filled = _XERIAL_HEADER, 0
    while at < len(data):
        if at + 4 > len(data):
            raise CannotUnpack("the last block of the stream has no size")
        size = _SIZE.unpack_from(data, at)[0]
        at += 4
        if not 0 <= size <= len(data) - at:
            raise CannotUnpack(f"a block of {size} bytes where {len(data) - at} are left")
        filled += _unpack_one(data[at : at + size], Compression.snappy, place[filled:])
        at += size
    return place[:filled]


def _unpack_one(data: Bytes, codec: Compression, place: memoryview) -> int:
    try:
        return _UNPACKERS[codec](data, place)
    except (cramjam.DecompressionError, ValueError, OSError) as error:
        if any(words in str(error) for words in _FULL):
            raise TooLong("there is no more room") from error
        raise CannotUnpack(str(error)) from error
