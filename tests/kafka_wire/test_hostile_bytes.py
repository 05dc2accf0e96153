"""Bytes from anybody: a message or a WireError, soon and without using up the memory."""

from __future__ import annotations

import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.kafka.apis import APIS, FETCH, METADATA, PRODUCE, Api
from reference_impl.kafka.codec import Codec
from reference_impl.kafka.errors import WireError
from reference_impl.kafka.frames import read_header
from reference_impl.kafka.readers import MOST_ENTRIES

CODECS = [
    (codec, version)
    for api in APIS
    for codec in (api.requests, api.responses)
    for version in api.versions
]


def decodes(codec: Codec, data: bytes, version: int) -> bool:
    try:
        codec.decode(data, version)
    except WireError:
        return False
    return True


@given(st.sampled_from(CODECS), st.binary(max_size=200))
def test_garbage_is_a_message_or_a_wire_error(case: tuple[Codec, int], data: bytes) -> None:
    decodes(case[0], data, case[1])


@given(st.sampled_from(CODECS), st.data())
def test_a_message_with_one_byte_changed_is_one_or_a_wire_error(
    case: tuple[Codec, int], data: st.DataObject
) -> None:
    codec, version = case
    message = bytearray(codec.encode(codec.root(**_filled(codec, version)), version))
    at = data.draw(st.integers(0, len(message) - 1) if message else st.just(0))
    message[at : at + 1] = data.draw(st.binary(max_size=4))

    decodes(codec, bytes(message), version)


def _filled(codec: Codec, version: int) -> dict[str, object]:
    """An entry in each array, so that what is inside is read as well; nothing is null."""
    filled: dict[str, object] = {}
    for field in codec.structs[version].fields:
        if field.array and field.struct is not None:
            inside = codec.classes[field.struct.name]
            filled[field.name] = [inside(**_never_null(field.struct.fields))]
    return filled | _never_null(codec.structs[version].fields, but=filled)


def _never_null(fields: object, but: object = ()) -> dict[str, object]:
    kinds: dict[str, object] = {"string": "x", "bytes": b"x", "records": b"x"}
    return {
        field.name: [] if field.array else kinds[field.kind]
        for field in fields  # type: ignore[attr-defined]
        if field.name not in but and (field.array or field.kind in kinds)  # type: ignore[operator]
    }


@given(st.binary(max_size=60))
def test_garbage_is_a_header_or_a_wire_error(frame: bytes) -> None:
    try:
        read_header(frame)
    except WireError:
        return


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.name)
def test_a_message_cut_short_anywhere_is_a_wire_error(api: Api) -> None:
    for codec in (api.requests, api.responses):
        for version in api.versions:
            whole = codec.encode(codec.root(**_filled(codec, version)), version)

            assert decodes(codec, whole, version)
            assert [n for n in range(len(whole)) if decodes(codec, whole[:n], version)] == []


def test_bytes_after_the_end_are_a_wire_error() -> None:
    with pytest.raises(WireError, match="1 bytes are left over"):
        METADATA.decode_request(METADATA.encode_request(METADATA.request(), 9) + b"\0", 9)


LONG_VARINT = b"\xff\xff\xff\xff\xff\x01"
HOSTILE = {
    "more topics than bytes": (METADATA, 1, struct.pack(">i", 0x7FFFFFFF)),
    "more topics than bytes, compact": (METADATA, 9, b"\xff\xff\xff\xff\x0f"),
    "a null array": (METADATA, 0, struct.pack(">i", -1)),
    "an array of negative length": (METADATA, 0, struct.pack(">i", -2)),
    "a null topic name": (METADATA, 1, struct.pack(">ih", 1, -1)),
    "a topic name longer than the message": (METADATA, 1, struct.pack(">ih", 1, 500) + b"a"),
    "a number too long": (METADATA, 9, LONG_VARINT),
    "a number above 32 bits": (METADATA, 9, b"\xff\xff\xff\xff\x1f"),
    "records longer than the message": (
        PRODUCE,
        3,
        struct.pack(">hhiihiii", -1, 1, 0, 1, 0, 1, 0, 0x7FFFFFFF),
    ),
    "tags without end": (METADATA, 9, b"\x00\x00\x00\x00\xff\xff\xff\xff\x0f"),
    "a tag longer than the message": (METADATA, 9, b"\x00\x00\x00\x00\x01\x63\xff\x01zz"),
}


@pytest.mark.parametrize(("api", "version", "data"), HOSTILE.values(), ids=HOSTILE)
def test_a_lie_about_lengths_is_a_wire_error(api: Api, version: int, data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(WireError):
            api.decode_request(data, version)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 100_000


def test_more_entries_than_any_client_sends_are_refused_before_they_are_read() -> None:
    # Two arrays, each of them allowed alone.
    many = MOST_ENTRIES - 1
    partitions = struct.pack(">i", many) + bytes(4 * many)
    topic = struct.pack(">h", 1) + b"t" + partitions
    data = struct.pack(">iiibiiii", -1, 0, 0, 0, 0, 0, 0, 2) + topic + topic

    with pytest.raises(WireError, match="entries"):
        FETCH.decode_request(data, 7)


def test_text_that_is_no_text_is_read_as_kafka_reads_it() -> None:
    data = struct.pack(">ih", 1, 2) + b"\xff\xfe"

    assert METADATA.decode_request(data, 1).topics[0].name == "��"


def test_any_negative_length_is_null_where_null_is_allowed() -> None:
    assert METADATA.decode_request(struct.pack(">i", -7), 1).topics is None
