"""Tagged fields: what is unknown is skipped, what is by default is not written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.kafka.apis import APIS, FETCH, METADATA, Api
from reference_impl.kafka.frames import read_header, request_frame
from reference_impl.kafka.writers import varint

UNKNOWN = [(77, b"zz"), (200, b""), (5_000_000, b"x" * 300)]


def tags(*fields: tuple[int, bytes]) -> bytes:
    return varint(len(fields)) + b"".join(varint(t) + varint(len(d)) + d for t, d in fields)


FLEXIBLE = [
    pytest.param(api, version, id=f"{api.name}-{version}")
    for api in APIS
    for version in api.versions
    if api.requests.header_version(version) == 2
]


@pytest.mark.parametrize(("api", "version"), FLEXIBLE)
def test_unknown_tags_are_skipped(api: Api, version: int) -> None:
    for codec in (api.requests, api.responses):
        # All by default: the message ends with its own tags, of which there are none.
        plain = codec.encode(codec.root(**_not_null(codec, version)), version)
        assert plain.endswith(b"\0")

        assert codec.decode(plain[:-1] + tags(*UNKNOWN), version) == codec.decode(plain, version)


def _not_null(codec: object, version: int) -> dict[str, object]:
    fields = codec.structs[version].fields  # type: ignore[attr-defined]
    return {field.name: [] for field in fields if field.array and field.tag is None}


@given(st.lists(st.tuples(st.integers(2, 2**32 - 1), st.binary(max_size=20)), max_size=4))
def test_unknown_tags_beside_known_ones_are_skipped(unknown: list[tuple[int, bytes]]) -> None:
    request = FETCH.request(cluster_id="c")
    plain = FETCH.encode_request(request, 12)
    known = b"\x00\x02\x02c"
    assert plain.endswith(b"\x01" + known)

    data = plain[: -len(known) - 1] + tags((0, b"\x02c"), *unknown)

    assert FETCH.decode_request(data, 12) == request


def test_unknown_tags_in_a_header_are_skipped() -> None:
    frame = request_frame(METADATA, 9, 5, "me", METADATA.request())[4:]
    plain = read_header(frame)
    tagged = frame[: plain.body_at - 1] + tags(*UNKNOWN) + frame[plain.body_at :]

    header = read_header(tagged)

    assert (header.client_id, header.correlation_id) == ("me", 5)
    assert tagged[header.body_at :] == frame[plain.body_at :]


def test_a_tagged_field_is_written_only_where_it_differs_from_its_default() -> None:
    row = FETCH.response.PartitionData
    leader = FETCH.response.LeaderIdAndEpoch

    def size(**fields: object) -> int:
        topic = FETCH.response.FetchableTopicResponse(partitions=[row(**fields)])
        return len(FETCH.encode_response(FETCH.response(responses=[topic]), 16))

    assert size(current_leader=leader(leader_id=-1, leader_epoch=-1)) == size()
    assert size(current_leader=leader(leader_id=1, leader_epoch=-1)) == size() + 1 + 1 + 9


def test_tagged_fields_are_written_by_tag() -> None:
    row = FETCH.response.PartitionData(
        snapshot_id=FETCH.response.SnapshotId(end_offset=3, epoch=4),
        diverging_epoch=FETCH.response.EpochEndOffset(epoch=1, end_offset=2),
        records=b"",
    )
    topic = FETCH.response.FetchableTopicResponse(partitions=[row])
    data = FETCH.encode_response(FETCH.response(responses=[topic]), 16)

    assert data.endswith(
        b"\x02"  # two tags
        b"\x00\x0d\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00"
        b"\x02\x0d\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x04\x00"
        b"\x00\x00"
    )


def test_a_tag_that_comes_twice_counts_the_last_time_as_in_kafka() -> None:
    plain = FETCH.encode_request(FETCH.request(), 12)

    data = plain[:-1] + tags((0, b"\x02a"), (0, b"\x02b"))

    assert FETCH.decode_request(data, 12).cluster_id == "b"
