"""Batches and their records: read, stamped, packed, and refused."""

from __future__ import annotations

import contextlib

import cramjam
import pytest
from aiokafka.record.memory_records import MemoryRecords
from hypothesis import given, settings
from hypothesis import strategies as st
from log_bench import NOW, batch

from reference_impl.kafka.batches import (
    HEADER_BYTES,
    Compression,
    assembled,
    batches,
    header,
    intact,
    stamped,
    timestamped,
)
from reference_impl.kafka.compression import CannotUnpack, TooLong, pack, unpack
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.record_walk import compile_walk, interpreted
from reference_impl.kafka.records import build_batch, records, repacked, unpacked

CODECS = list(Compression)


@pytest.mark.parametrize("codec", CODECS)
def test_what_is_built_is_what_is_read(codec: Compression) -> None:
    entries = [(NOW + n, b"k%d" % n if n % 2 else None, b"v" * n or None) for n in range(200)]

    found = list(records(build_batch(entries, compression=codec)))

    assert [(r.timestamp, r.key, r.value) for r in found] == entries
    assert [r.offset for r in found] == list(range(200))


@pytest.mark.parametrize("codec", CODECS)
def test_another_reader_reads_the_same(codec: Compression) -> None:
    data = batch(b"a", None, b"c", key=b"k", compression=codec)

    other = MemoryRecords(data).next_batch()

    assert other is not None
    assert other.validate_crc()
    assert [(r.offset, r.timestamp, r.key, r.value) for r in other] == [
        (r.offset, r.timestamp, r.key, r.value) for r in records(data)
    ]


def test_stamping_changes_neither_checksum_nor_records() -> None:
    data = batch(b"a", b"b")

    changed = stamped(data, 0, header(data), base_offset=1 << 40, leader_epoch=7)

    seen = header(changed)
    assert (seen.base_offset, seen.last_offset) == (1 << 40, (1 << 40) + 1)
    assert seen.partition_leader_epoch == 7
    assert changed[17:] == data[17:]
    assert intact(changed, 0, seen)


def test_a_log_append_time_is_every_records_timestamp() -> None:
    changed = timestamped(batch(b"a", b"b"), NOW + 5, log_append_time=True)

    assert intact(changed, 0, header(changed))
    assert [record.timestamp for record in records(changed)] == [NOW + 5] * 2


def test_the_last_sequence_number_wraps_around() -> None:
    data = batch(*[b"x"] * 10, producer_id=1, producer_epoch=0, base_sequence=(1 << 31) - 3)

    assert header(data).last_sequence == 6


@pytest.mark.parametrize("cut", [0, 11, 12, 16, 17, 60, 61])
def test_a_tail_that_is_not_whole_is_not_there(cut: int) -> None:
    one, two = batch(b"a"), batch(b"b")

    assert [at for at, _ in batches(one + two[:cut])] == [0]


@pytest.mark.parametrize(
    ("place", "value"), [(8, b"\0\0\0\1"), (8, b"\xff\xff\xff\xff"), (16, b"\3"), (16, b"\xff")]
)
def test_bytes_that_are_no_batch_are_refused(place: int, value: bytes) -> None:
    data = bytearray(batch(b"a"))
    data[place : place + len(value)] = value

    with pytest.raises(KafkaError) as refused:
        list(batches(bytes(data)))

    assert refused.value.code is ErrorCode.corrupt_message


def test_every_turned_bit_behind_the_checksum_is_noticed() -> None:
    data = batch(b"some value", key=b"k")

    for place in range(17, len(data)):
        turned = bytearray(data)
        turned[place] ^= 1
        assert not intact(turned, 0, header(turned))


@pytest.mark.parametrize("codec", CODECS)
def test_records_repacked_are_the_same_records(codec: Compression) -> None:
    data = batch(*[b"v%d" % n for n in range(50)], key=b"k", compression=Compression.gzip)

    with unpacked(data, header(data)) as inside:
        other = repacked(inside, header(data), codec, None)

    assert header(other).codec == codec
    assert list(records(other)) == list(records(data))


@pytest.mark.parametrize("codec", CODECS[1:])
def test_a_bomb_is_refused(codec: Compression) -> None:
    packed = bytes(pack(b"\0" * 10_000_000, codec))

    with pytest.raises(TooLong):
        unpack(packed, codec, memoryview(bytearray(1_000_000)))
    assert len(unpack(packed, codec, memoryview(bytearray(10_000_000)))) == 10_000_000


@pytest.mark.parametrize("codec", CODECS[1:])
@given(data=st.binary(max_size=200))
@settings(max_examples=30, deadline=None)
def test_garbage_is_refused_or_unpacked_and_nothing_else(codec: Compression, data: bytes) -> None:
    with contextlib.suppress(CannotUnpack):
        unpack(data, codec, memoryview(bytearray(1 << 16)))


def test_snappy_without_the_framing_of_java_is_understood() -> None:
    data = b"plain snappy " * 50

    place = memoryview(bytearray(1000))

    assert unpack(bytes(cramjam.snappy.compress_raw(data)), Compression.snappy, place) == data


WALK = compile_walk()


@given(
    body=st.binary(max_size=80),
    entries=st.lists(
        st.tuples(
            st.integers(-(1 << 40), 1 << 40),
            st.none() | st.binary(max_size=5),
            st.binary(max_size=9),
        ),
        min_size=1,
        max_size=6,
    ),
    turn=st.none() | st.tuples(st.integers(0, 1 << 20), st.integers(0, 255)),
    count=st.integers(-1, 1),
    sized=st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_the_compiled_walk_answers_as_the_interpreted_one(
    body: bytes,
    entries: list[tuple[int, bytes | None, bytes]],
    turn: tuple[int, int] | None,
    count: int,
    sized: bool,
) -> None:
    data = bytearray(build_batch(entries))
    if turn is not None:
        data[HEADER_BYTES + turn[0] % (len(data) - HEADER_BYTES)] = turn[1]
    for bytes_, start in ((data, HEADER_BYTES), (body, 0)):
        asked = (start, len(bytes_), len(entries) + count, sized)
        assert WALK(bytes_, *asked) == interpreted(bytes_, *asked)


def test_an_assembled_batch_knows_its_length_and_checksum() -> None:
    data = batch(b"a", b"b")

    assert assembled(header(data)._replace(length=0, crc=0), data[HEADER_BYTES:]) == data
