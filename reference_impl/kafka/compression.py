"""The codecs of record batches, with a bound on what they unpack to.

A megabyte of compressed zeros can stand for gigabytes. Unpacking therefore writes into a buffer
that grows only as far as ``MAX_UNPACKED``; what does not fit is refused.
"""

from __future__ import annotations

import struct

import cramjam
from aiokafka.codec import (  # type: ignore[import-untyped]
    gzip_encode,
    lz4_encode,
    snappy_encode,
    zstd_encode,
)

from reference_impl.kafka.batches import Bytes, Compression

MAX_UNPACKED = 128 << 20
_FIRST_GUESS = 1 << 16
_GROWTH = 4
_XERIAL = b"\x82SNAPPY\0"  # the framing of Java clients around snappy
_XERIAL_HEADER = 16
_SIZE = struct.Struct(">i")

_UNPACKERS = {
    Compression.gzip: cramjam.gzip.decompress_into,
    Compression.lz4: cramjam.lz4.decompress_into,
    Compression.zstd: cramjam.zstd.decompress_into,
}


class CannotUnpack(ValueError):
    """The bytes are not what the codec packs, or too much."""


def unpack(data: Bytes, codec: Compression, *, limit: int = MAX_UNPACKED) -> Bytes:
    """The records of a batch as they were before its codec packed them."""
    if codec is Compression.none:
        return data
    if codec is Compression.snappy:
        return _unpack_snappy(data, limit)
    unpacker = _UNPACKERS[codec]
    room = max(_FIRST_GUESS, _GROWTH * len(data))
    while True:
        room = min(room, limit)
        buffer = bytearray(room)
        try:
            return memoryview(buffer)[: unpacker(data, buffer)]
        except (cramjam.DecompressionError, ValueError, OSError) as error:
            if room >= limit or "write whole buffer" not in str(error):
                raise CannotUnpack(str(error)) from error
        room *= _GROWTH


def pack(data: Bytes, codec: Compression, level: int | None = None) -> Bytes:
    """The records packed by a codec, at Kafka's own default level unless told."""
    if codec is Compression.none:
        return data
    if codec is Compression.gzip:
        return bytes(gzip_encode(data, 6 if level in (None, -1) else level))
    if codec is Compression.snappy:
        return bytes(snappy_encode(bytes(data)))
    if codec is Compression.lz4:
        return bytes(lz4_encode(bytes(data), 9 if level is None else level))
    return bytes(zstd_encode(bytes(data), 3 if level is None else level))


def _unpack_snappy(data: Bytes, limit: int) -> Bytes:
    view = memoryview(data)
    if bytes(view[: len(_XERIAL)]) != _XERIAL:
        return _unpack_snappy_block(view, limit)
    parts: list[Bytes] = []
    at, left = _XERIAL_HEADER, limit
    while at < len(view):
        if at + 4 > len(view):
            raise CannotUnpack("the last block of the stream has no size")
        size = _SIZE.unpack_from(view, at)[0]
        at += 4
        if not 0 <= size <= len(view) - at:
            raise CannotUnpack(f"a block of {size} bytes where {len(view) - at} are left")
        parts.append(_unpack_snappy_block(view[at : at + size], left))
        left -= len(parts[-1])
        at += size
    return b"".join(parts)


def _unpack_snappy_block(block: memoryview, limit: int) -> Bytes:
    data = bytes(block)
    try:
        size = cramjam.snappy.decompress_raw_len(data)
        if size > limit:
            raise CannotUnpack(f"{size} bytes unpacked, of which {limit} are let through")
        return bytes(cramjam.snappy.decompress_raw(data))
    except (cramjam.DecompressionError, OSError) as error:
        raise CannotUnpack(str(error)) from error
