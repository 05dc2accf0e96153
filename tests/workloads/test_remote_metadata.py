"""Records of the metadata topic against the vectors of the readings (C-10, C-17, C-31)."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.clients.remote_metadata import (
    DOCUMENT,
    KAFKA4,
    decode_record,
    metadata_partition,
    murmur2,
)

SEGMENT = bytes.fromhex(
    "000000066f7264657273000102030405060708090a0b0c0d0e0f00000000f0f1"
    "f2f3f4f5f6f7f8f9fafbfcfdfeff000000000000000600000000000000080000"
    "000300000174876e800000000174876e83e80000000200000002000000000000"
    "00050000000300000000000000070010000000"
)
UPDATE = bytes.fromhex(
    "010000066f7264657273000102030405060708090a0b0c0d0e0f00000000f0f1"
    "f2f3f4f5f6f7f8f9fafbfcfdfeff0000000300000174876e87d001"
)
DELETION = bytes.fromhex(
    "020000066f7264657273000102030405060708090a0b0c0d0e0f000000000000000700000174876e8bb800"
)
KAFKA_SEGMENT = bytes.fromhex(
    "010000076f7264657273000102030405060708090a0b0c0d0e0f0000000000f0"
    "f1f2f3f4f5f6f7f8f9fafbfcfdfeff0000000000000000060000000000000008"
    "0000000100000174876e800000000174876e83e8030000000200000000000000"
    "06000000000300000000000000070000100000000001000101"
)
KAFKA_UPDATE = bytes.fromhex(
    "010100076f7264657273000102030405060708090a0b0c0d0e0f0000000000f0"
    "f1f2f3f4f5f6f7f8f9fafbfcfdfeff000000000100000174876e87d0000100"
)
ORDERS = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")


def test_a_segment_is_read_to_the_byte() -> None:
    assert decode_record(SEGMENT, DOCUMENT) == {
        "event": "segment",
        "topic": "orders",
        "topic_id": "AAECAwQFBgcICQoLDA0ODw",
        "partition": 0,
        "segment_id": "8PHy8_T19vf4-fr7_P3-_w",
        "start_offset": 6,
        "end_offset": 8,
        "leader_epoch": 3,
        "max_timestamp": 1600000000000,
        "event_timestamp": 1600000001000,
        "epochs": [[2, 5], [3, 7]],
        "size": 1048576,
        "state": 0,
    }


def test_updates_and_deletions_have_their_states() -> None:
    assert decode_record(UPDATE, DOCUMENT)["state"] == 1
    assert decode_record(DELETION, DOCUMENT) | {"event": "partition", "leader_epoch": 7} == (
        decode_record(DELETION, DOCUMENT)
    )


def test_kafkas_own_format_says_the_same() -> None:
    found = decode_record(KAFKA_SEGMENT, KAFKA4)

    assert found["segment_id"] == "8PHy8_T19vf4-fr7_P3-_w"
    assert (found["start_offset"], found["end_offset"], found["size"]) == (6, 8, 1048576)
    assert found["epochs"] == [[2, 6], [3, 7]]
    assert decode_record(KAFKA_UPDATE, KAFKA4)["state"] == 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "no value"),
        (SEGMENT[:-1], "ends after"),
        (SEGMENT + b"\0", "left over"),
        (b"\x03" + SEGMENT[1:], "not known"),
        (SEGMENT[:-1] + b"\x09", "state 9"),
    ],
)
def test_what_is_no_record_is_named(value: bytes | None, words: str) -> None:
    assert words in decode_record(value, DOCUMENT)["problem"]


@pytest.mark.parametrize(
    ("topic", "topic_id", "partition", "document", "kafka"),
    [
        ("orders", ORDERS, 0, 23, 45),
        ("orders", ORDERS, 1, 45, 3),
        ("metrics_2024", ORDERS, 49, 40, 49),
        ("clicks.eu-west-1", UUID(int=(123 << 64) | 123), 3, 11, 11),
    ],
)
def test_the_partition_of_a_partition(
    topic: str, topic_id: UUID, partition: int, document: int, kafka: int
) -> None:
    assert metadata_partition(topic, topic_id, partition, 50, DOCUMENT) == document
    assert metadata_partition(topic, topic_id, partition, 50, KAFKA4) == kafka


def test_murmur2_is_kafkas() -> None:
    assert murmur2(b"21") == -973932308 & 0xFFFFFFFF
    assert murmur2(b"foobar") == -790332482 & 0xFFFFFFFF
