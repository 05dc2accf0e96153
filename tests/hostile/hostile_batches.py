"""Record batches as nobody should send them: good ones with something wrong about them.

Most have a right checksum all the same. With a wrong one a broker looks no further, and what stands
behind that check is what is to be tried.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from reference_impl.kafka.batches import HEADER_BYTES, Compression, assembled, header
from reference_impl.kafka.compression import pack
from reference_impl.kafka.records import build_batch

NOW_MS = 1_000
# Unpacks to 2 MB: more than a topic takes in one batch, and over in a millisecond.
BOMB_BYTES = 2 << 20

INT8, INT16, INT32, INT64 = 7, 15, 31, 63


def numbers(bits: int) -> st.SearchStrategy[int]:
    """Signed numbers of so many bits and a sign: mostly the edges."""
    least, most = -(1 << bits), (1 << bits) - 1
    edges = [0, 1, -1, 2, -2, 5, most, least, most - 1, least + 1]
    return st.sampled_from(edges) | st.integers(least, most)


HEADER_FIELDS: dict[str, st.SearchStrategy[int]] = {
    "base_offset": numbers(INT64),
    "partition_leader_epoch": numbers(INT32),
    "magic": numbers(INT8),
    "attributes": st.integers(0, 255) | numbers(INT16),
    "last_offset_delta": numbers(INT32),
    "base_timestamp": numbers(INT64),
    "max_timestamp": numbers(INT64),
    "producer_id": st.sampled_from([-1, 0, 1, 1000]) | numbers(INT64),
    "producer_epoch": numbers(INT16),
    "base_sequence": numbers(INT32),
    "record_count": st.integers(0, 4) | numbers(INT32),
}

_texts = st.none() | st.binary(max_size=6)
_entries = st.lists(
    st.tuples(st.sampled_from([NOW_MS, 0, -1]) | st.integers(0, 2**48), _texts, _texts),
    min_size=1,
    max_size=4,
)
_codecs = st.sampled_from(list(Compression))
_producers = st.sampled_from(
    [(-1, -1, -1), (-1, -1, -1), (0, 0, 0), (0, 0, 1), (1000, 5, 2**31 - 1)]
)


@st.composite
def good_batches(draw: st.DrawFn) -> bytes:
    """What a producer might send."""
    producer_id, epoch, sequence = draw(_producers)
    return build_batch(
        draw(_entries),
        compression=draw(_codecs),
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
    )


@st.composite
def with_wrong_headers(draw: st.DrawFn) -> bytes:
    """One to three fields changed, the checksum right."""
    data = draw(good_batches())
    names = draw(st.lists(st.sampled_from(sorted(HEADER_FIELDS)), min_size=1, max_size=3))
    wrong: dict[str, Any] = {name: draw(HEADER_FIELDS[name]) for name in names}
    return assembled(header(data)._replace(**wrong), data[HEADER_BYTES:])


@st.composite
def with_wrong_records(draw: st.DrawFn) -> bytes:
    """Records that are garbage, or nearly right, as they are or packed; the checksum right."""
    good = build_batch(draw(_entries))
    inside = draw(mutated(good[HEADER_BYTES:]) | st.binary(max_size=40))
    codec = draw(_codecs)
    packed = bytes(pack(inside, codec)) if draw(st.booleans()) else inside
    batch = header(good)
    count = draw(st.just(batch.record_count) | st.integers(0, 5) | numbers(INT32))
    return assembled(
        batch._replace(attributes=int(codec), record_count=count, last_offset_delta=count - 1)
        if count > -(1 << 31)
        else batch,
        packed,
    )


@st.composite
def bombs(draw: st.DrawFn) -> bytes:
    """A few hundred bytes that stand for megabytes."""
    codec = draw(st.sampled_from([Compression.gzip, Compression.lz4, Compression.zstd]))
    data = build_batch([(NOW_MS, None, b"x")])
    batch = header(data)._replace(attributes=int(codec), record_count=1, last_offset_delta=0)
    return assembled(batch, pack(bytes(BOMB_BYTES), codec))


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes with a few of them flipped, cut out, put in, or the end missing."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(0, len(changed) - 1)))
        match draw(st.sampled_from(["flip", "flip", "set", "set", "insert", "cut", "end"])):
            case "flip" if changed:
                changed[at] ^= 1 << draw(st.integers(0, 7))
            case "set" if changed:
                changed[at] = draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
            case "insert":
                changed[at:at] = draw(st.binary(min_size=1, max_size=5))
            case "cut":
                del changed[at : at + draw(st.integers(1, 4))]
            case _:
                del changed[at:]
    return bytes(changed)


hostile_batches: st.SearchStrategy[bytes] = st.one_of(
    good_batches(),
    with_wrong_headers(),
    with_wrong_records(),
    good_batches().flatmap(mutated),
    bombs(),
    st.tuples(good_batches(), good_batches()).map(b"".join),
    st.binary(max_size=100),
)
