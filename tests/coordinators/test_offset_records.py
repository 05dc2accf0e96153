"""The records of committed offsets: Kafka's bytes, and what they mean."""

from __future__ import annotations

import struct
from uuid import UUID

import pytest

from reference_impl.coordinators.offset_records import (
    NO_EXPIRY,
    NO_TOPIC_ID,
    OffsetKey,
    OffsetValue,
    key_of,
    read_key,
    read_value,
    value_of,
)

KEY = OffsetKey("group", "topic", 7)
TOPIC_ID = UUID(int=0x0102030405060708090A0B0C0D0E0F10)


def test_a_key_is_its_kind_then_group_topic_and_partition() -> None:
    assert key_of(KEY) == b"\0\1" + b"\0\5group" + b"\0\5topic" + b"\0\0\0\7"
    assert read_key(key_of(KEY)) == KEY


VALUES = {
    "in a transaction, without the topic's id": (
        OffsetValue(5, 3, "note", 1000),
        b"\0\4" + struct.pack(">qi", 5, 3) + b"\5note" + struct.pack(">q", 1000) + b"\0",
    ),
    "outside of transactions, with the topic's id": (
        OffsetValue(5, -1, "", 1000, NO_EXPIRY, TOPIC_ID),
        b"\0\4"
        + struct.pack(">qi", 5, -1)
        + b"\1"
        + struct.pack(">q", 1000)
        + b"\1\0\x10"
        + TOPIC_ID.bytes,
    ),
    "with a time to expire at": (
        OffsetValue(5, -1, "note", 1000, 2000),
        b"\0\1" + struct.pack(">q", 5) + b"\0\4note" + struct.pack(">qq", 1000, 2000),
    ),
}


@pytest.mark.parametrize(("value", "data"), VALUES.values(), ids=VALUES)
def test_a_value_is_written_in_kafkas_bytes_and_read_again(value: OffsetValue, data: bytes) -> None:
    assert value_of(value) == data
    assert read_value(data) == value


OLDER = {
    0: struct.pack(">hq", 0, 5) + b"\0\1m" + struct.pack(">q", 9),
    2: struct.pack(">hq", 2, 5) + b"\0\1m" + struct.pack(">q", 9),
    3: struct.pack(">hqi", 3, 5, 4) + b"\0\1m" + struct.pack(">q", 9),
}


@pytest.mark.parametrize("version", OLDER)
def test_values_of_older_versions_are_read(version: int) -> None:
    epoch = 4 if version == 3 else -1
    assert read_value(OLDER[version]) == OffsetValue(5, epoch, "m", 9, NO_EXPIRY, NO_TOPIC_ID)


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\0\2\0\5group", b"\0\1\0\5gro", b"\0\1\0\1g\0\1t\0"]
)
def test_a_key_of_something_else_is_none(data: bytes) -> None:
    assert read_key(data) is None


@pytest.mark.parametrize(
    "data", [b"", b"\0\5" + bytes(30), OLDER[3][:-1], b"\0\4" + bytes(12) + b"\xff\xff\xff\xff\xff"]
)
def test_a_value_that_is_cut_off_or_came_later_is_none(data: bytes) -> None:
    assert read_value(data) is None


def test_metadata_keeps_all_characters() -> None:
    value = OffsetValue(1, 1, "größe 🦀" * 40, 1)
    assert read_value(value_of(value)) == value
