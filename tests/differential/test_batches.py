"""Batches made to order, and batches read without trust."""

from __future__ import annotations

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from hypothesis import given
from hypothesis import strategies as st

from harness.clients.batches import COMPRESSIONS, decode_batches, encode_batch, encode_batches

RECORD = {"key": "k", "value": "v", "timestamp": 1_700_000_000_000, "headers": [["h", "1"]]}


def test_a_plain_batch_is_byte_for_byte_what_a_client_sends() -> None:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=0,
        producer_id=7,
        producer_epoch=1,
        base_sequence=5,
        batch_size=1 << 20,
    )
    for offset in range(3):
        builder.append(
            offset,
            timestamp=1_700_000_000_000 + offset,
            key=b"k",
            value=b"v",
            headers=[("h", b"1")],
        )
    records = [{**RECORD, "timestamp": 1_700_000_000_000 + offset} for offset in range(3)]
    patch = {"producer_id": 7, "producer_epoch": 1, "base_sequence": 5}

    ours = encode_batch({"records": records, "patch": patch})

    # The epoch of the leader is the broker's to write and outside the checksum.
    assert ours[:12] + ours[16:] == bytes(builder.build())[:12] + bytes(builder.build())[16:]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_what_was_encoded_is_decoded(compression: str) -> None:
    (batch,) = decode_batches(encode_batch({"records": [RECORD], "compression": compression}))

    assert batch["crc"] == "right"
    assert batch["compression"] == compression
    assert batch["records"] == [
        {
            "timestamp_delta": 0,
            "offset_delta": 0,
            "key": "k",
            "value": "v",
            "headers": [["h", "1"]],
        }
    ]


def test_a_patched_field_leaves_the_checksum_right_and_a_broken_one_does_not() -> None:
    patched = {"records": [RECORD], "patch": {"max_timestamp": 9}}
    broken = {"records": [RECORD], "break": {"max_timestamp": 9}}

    patched_batch, broken_batch = decode_batches(encode_batches([patched, broken]))

    assert (patched_batch["max_timestamp"], patched_batch["crc"]) == (9, "right")
    assert (broken_batch["max_timestamp"], broken_batch["crc"]) == (9, "wrong")


def test_a_batch_that_is_cut_is_told_by_its_bytes() -> None:
    whole = encode_batch({"records": [RECORD]})

    assert decode_batches(whole + whole[:-1])[1] == {"partial_bytes": len(whole) - 1}


def test_a_count_above_the_records_makes_them_unreadable_and_nothing_worse() -> None:
    (batch,) = decode_batches(encode_batch({"records": [RECORD], "patch": {"record_count": 3}}))

    assert batch["records"] == "unreadable: IndexError"


@given(st.binary(max_size=200))
def test_no_bytes_whatsoever_make_decoding_fail(data: bytes) -> None:
    decode_batches(data)


@given(st.integers(0, 60), st.binary(min_size=1, max_size=4))
def test_no_damage_to_a_batch_makes_decoding_fail(at: int, damage: bytes) -> None:
    data = bytearray(encode_batch({"records": [RECORD, RECORD]}))
    data[at : at + len(damage)] = damage

    decode_batches(bytes(data))
