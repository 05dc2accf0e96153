"""Records of the metadata topic, byte for byte, and what is no record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from metadata_vectors import FINISHED, MARKED, STARTED, VECTOR_2, VECTOR_3, VECTOR_4, VECTOR_6

from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.kafka4_records import Kafka4Record, decode_kafka4, encode_kafka4
from reference_impl.tiered.records import BadRecord, decode_event, encode_event
from reference_impl.tiered.segments import MetadataEvent

VECTORS = [(STARTED, VECTOR_2), (FINISHED, VECTOR_3), (MARKED, VECTOR_4)]
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


@pytest.mark.parametrize(("event", "data"), VECTORS)
def test_an_event_is_the_bytes_of_its_vector(event: MetadataEvent, data: bytes) -> None:
    assert encode_event(event) == data
    assert decode_event(data) == event


@pytest.mark.parametrize("data", [data for _, data in VECTORS])
def test_a_record_that_is_cut_or_has_more_is_none(data: bytes) -> None:
    for cut in range(len(data)):
        with pytest.raises(BadRecord):
            decode_event(data[:cut])
    with pytest.raises(BadRecord, match="1 bytes left over"):
        decode_event(data + b"\0")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, "no value"),
        (b"\x03" + VECTOR_2[1:], "type 3"),
        (b"\xff" + VECTOR_2[1:], "type -1"),
        (b"\x00\x01" + VECTOR_2[2:], "version 1"),
        (VECTOR_2[:-1] + b"\x04", "state 4"),
        (VECTOR_3[:-1] + b"\xff", "state -1"),
        (VECTOR_4[:-1] + b"\x03", "state 3"),
        (VECTOR_2[:4] + b"\xff" * 6 + VECTOR_2[10:], "no text"),
        (VECTOR_2[:2] + b"\xff\xff" + VECTOR_2[4:], "-1 bytes wanted"),
        (VECTOR_2.replace(b"\0\0\0\x02\0\0\0\x02", b"\x7f\0\0\x02\0\0\0\x02"), "epochs in"),
        (VECTOR_2.replace(b"\0\0\0\x02\0\0\0\x02", b"\xff\0\0\x02\0\0\0\x02"), "epochs in"),
        (VECTOR_6[0], "."),
    ],
)
def test_what_is_not_known_is_a_bad_record_and_says_why(data: bytes | None, why: str) -> None:
    with pytest.raises(BadRecord, match=why):
        decode_event(data)


@given(st.binary(max_size=150))
def test_any_bytes_are_an_event_or_a_bad_record(data: bytes) -> None:
    for decode in (decode_event, decode_kafka4):
        try:
            decode(data)
        except BadRecord:
            continue


@given(
    topic=st.text(max_size=20),
    numbers=st.tuples(INT64, INT64, INT32, INT64, INT64, INT32),
    epochs=st.lists(st.builds(EpochEntry, INT32, INT64), max_size=5),
    custom=st.none() | st.binary(max_size=300),
)
def test_every_segment_comes_back_as_it_was(
    topic: str,
    numbers: tuple[int, int, int, int, int, int],
    epochs: list[EpochEntry],
    custom: bytes | None,
) -> None:
    start, end, epoch, newest, at, size = numbers
    partition = STARTED.partition._replace(topic=topic)
    event = replace(
        STARTED,
        segment_id=STARTED.segment_id._replace(partition=partition),
        start_offset=start,
        end_offset=end,
        leader_epoch=epoch,
        max_timestamp_ms=newest,
        event_timestamp_ms=at,
        segment_leader_epochs=tuple(epochs),
        segment_size_bytes=size,
    )
    kafka4 = Kafka4Record(
        event=replace(event, leader_epoch=-1), broker_id=epoch, custom_metadata=custom
    )

    assert decode_event(encode_event(event)) == event
    assert decode_kafka4(encode_kafka4(kafka4)) == kafka4


def test_kafkas_records_are_the_bytes_of_their_vectors() -> None:
    clamped = replace(
        STARTED, leader_epoch=-1, segment_leader_epochs=(EpochEntry(2, 6), EpochEntry(3, 7))
    )
    started = Kafka4Record(event=clamped, broker_id=1, txn_index_empty=True)
    with_index = replace(started, txn_index_empty=False)
    finished = Kafka4Record(event=replace(FINISHED, leader_epoch=-1), broker_id=1)
    marked = Kafka4Record(event=replace(MARKED, epoch=-1), broker_id=1)

    assert (encode_kafka4(started), encode_kafka4(finished)) == VECTOR_6
    assert encode_kafka4(with_index) == VECTOR_6[0][:-4] + b"\0"
    for record in (started, with_index, finished, marked):
        assert decode_kafka4(encode_kafka4(record)) == record


@pytest.mark.parametrize("data", VECTOR_6)
def test_a_record_of_kafkas_that_is_cut_or_has_more_is_none(data: bytes) -> None:
    for wrong in (
        *(data[:cut] for cut in range(len(data))),
        data + b"\0",
        b"\x02" + data[1:],
        None,
    ):
        with pytest.raises(BadRecord):
            decode_kafka4(wrong)
