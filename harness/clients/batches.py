"""Record batches of format 2, made to order and taken apart without mercy or trust.

Clients' libraries only make batches that are right. Here every header field can be overwritten,
before the checksum is taken (`patch`) or after it (`break`), so that a sequence can send each way
of being wrong and nothing else wrong besides. Decoding never raises: what cannot be read is said.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from aiokafka import codec  # type: ignore[import-untyped]
from crc32c import crc32c

HEADER = struct.Struct(">qiibIhiqqqhii")
"""Base offset up to the count of records: 61 bytes."""

FIELDS = (
    "base_offset",
    "batch_length",
    "partition_leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "record_count",
)

CRC_FROM = 21
"""The checksum covers everything from the attributes on."""

COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
LOG_APPEND_TIME, TRANSACTIONAL, CONTROL = 0x08, 0x10, 0x20

_ENCODE: Mapping[str, Any] = {
    "none": lambda data: data,
    "gzip": codec.gzip_encode,
    "snappy": codec.snappy_encode,
    "lz4": codec.lz4_encode,
    "zstd": codec.zstd_encode,
}
_DECODE: Mapping[str, Any] = {
    "none": lambda data: data,
    "gzip": codec.gzip_decode,
    "snappy": codec.snappy_decode,
    "lz4": codec.lz4_decode,
    "zstd": codec.zstd_decode,
}
SHOWN_BYTES = 80
"""Longer keys and values are shown by their length and checksum."""


def encode_batch(said: Mapping[str, Any]) -> bytes:
    """The batch that a sequence describes.

    Keys: `records` (each with `value`, and where wanted `key`, `timestamp`, `headers`,
    `offset_delta`, `timestamp_delta`), `compression`, any header field by its name under `patch`
    (checksum taken afterwards) or under `break` (checksum left alone), `body` to replace the
    records' bytes, `append` for bytes behind the last record, `cut` for bytes taken off the end,
    `raw` to send these bytes and no batch at all.
    """
    if "raw" in said:
        return bytes.fromhex(said["raw"])
    records = said.get("records", [])
    times = [one.get("timestamp", 0) for one in records] or [0]
    values: dict[str, Any] = {
        "base_offset": 0,
        "partition_leader_epoch": -1,
        "magic": 2,
        "crc": 0,
        "attributes": COMPRESSIONS.index(said.get("compression", "none")),
        "last_offset_delta": len(records) - 1,
        "base_timestamp": times[0],
        "max_timestamp": max(times),
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "record_count": len(records),
    }
    values.update(said.get("patch", {}))
    body = b"".join(encode_record(one, at, times[0]) for at, one in enumerate(records))
    body += bytes.fromhex(said.get("append", ""))
    body = _ENCODE[said.get("compression", "none")](body)
    if "body" in said:
        body = bytes.fromhex(said["body"])
    values.setdefault("batch_length", HEADER.size - 12 + len(body))
    data = HEADER.pack(*(values[name] for name in FIELDS)) + body
    values["crc"] = said.get("patch", {}).get("crc", crc32c(data[CRC_FROM:]))
    values.update(said.get("break", {}))
    data = HEADER.pack(*(values[name] for name in FIELDS)) + body
    return data[: len(data) - said.get("cut", 0)]


def encode_record(said: Mapping[str, Any], at: int, base_timestamp: int) -> bytes:
    """One record, its deltas as told or as its place and timestamp say."""
    delta = said.get("timestamp_delta", said.get("timestamp", 0) - base_timestamp)
    body = b"\0" + _varint(delta) + _varint(said.get("offset_delta", at))
    body += _bytes(said.get("key")) + _bytes(said.get("value"))
    headers = said.get("headers", [])
    body += _varint(said.get("header_count", len(headers)))
    for key, value in headers:
        body += _bytes(key) + _bytes(value)
    return _varint(said.get("length", len(body))) + body


def _bytes(text: Any) -> bytes:
    if text is None:
        return _varint(-1)
    data = b"x" * int(text["bytes"]) if isinstance(text, Mapping) else str(text).encode()
    return _varint(len(data)) + data


def _varint(value: int) -> bytes:
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def decode_batches(data: bytes) -> list[dict[str, Any]]:
    """What a Records field holds: whole batches, and what is left at its end."""
    found: list[dict[str, Any]] = []
    at = 0
    while at < len(data):
        length = struct.unpack_from(">i", data, at + 8)[0] if len(data) - at >= 12 else -1
        if length < HEADER.size - 12 or at + 12 + length > len(data):
            found.append({"partial_bytes": len(data) - at})
            break
        found.append(_batch(data[at : at + 12 + length]))
        at += 12 + length
    return found


def _batch(data: bytes) -> dict[str, Any]:
    header = dict(zip(FIELDS, HEADER.unpack_from(data), strict=True))
    attributes = header.pop("attributes")
    compression = COMPRESSIONS[attributes & 7] if attributes & 7 < len(COMPRESSIONS) else "unknown"
    header["crc"] = "right" if header["crc"] == crc32c(data[CRC_FROM:]) else "wrong"
    header["compression"] = compression
    header["timestamp_type"] = "LogAppendTime" if attributes & LOG_APPEND_TIME else "CreateTime"
    header["transactional"] = bool(attributes & TRANSACTIONAL)
    header["control"] = bool(attributes & CONTROL)
    if compression != "none":  # how well something is compressed is not an answer
        header["batch_length"] = "compressed"
    try:
        body = _DECODE[compression](data[HEADER.size :])
        header["records"] = decode_records(body, header["record_count"])
    except Exception as problem:  # each codec has errors of its own
        header["records"] = f"unreadable: {type(problem).__name__}"
    return header


def decode_records(body: bytes, count: int) -> list[dict[str, Any]]:
    reader = _Reader(body)
    found = []
    for _ in range(count):
        reader.varint()
        reader.at += 1
        one: dict[str, Any] = {
            "timestamp_delta": reader.varint(),
            "offset_delta": reader.varint(),
            "key": shown(reader.bytes()),
            "value": shown(reader.bytes()),
        }
        headers = [[shown(reader.bytes()), shown(reader.bytes())] for _ in range(reader.varint())]
        found.append(one | ({"headers": headers} if headers else {}))
    return found


def shown(data: bytes | None) -> str | None:
    """A key or value as text, or what there is to say of a long one."""
    if data is None:
        return None
    if len(data) > SHOWN_BYTES:
        return f"{len(data)} bytes, crc {crc32c(data):08x}"
    return data.decode("utf-8", "backslashreplace")


class _Reader:
    """Varints and byte strings one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7

    def bytes(self) -> bytes | None:
        length = self.varint()
        if length < 0:
            return None
        if self.at + length > len(self.data):
            raise IndexError("a record ends before its bytes do")
        self.at += length
        return self.data[self.at - length : self.at]


def encode_batches(said: Sequence[Mapping[str, Any]]) -> bytes:
    """Several batches in one Records field."""
    return b"".join(encode_batch(one) for one in said)
