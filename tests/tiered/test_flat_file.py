"""The local files of a metadata manager: byte for byte, damaged in every way, and how they are
written."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from metadata_vectors import FINISHED, MARKED, STARTED, VECTOR_5
from remote_events import (
    COPIED,
    DELETED,
    DELETING,
    ORDERS,
    REMOVED,
    REMOVING,
    deletion,
    segment,
    update,
)

from reference_impl.live.disk import FileDisk
from reference_impl.tiered.flat_file import (
    COMMITTED_OFFSETS,
    FOLDER,
    Kept,
    MetadataFiles,
    decode_committed_offsets,
    decode_flat_file,
    encode_committed_offsets,
    encode_flat_file,
    file_name,
)
from reference_impl.tiered.life_cycles import Outcome
from reference_impl.tiered.records import BadRecord
from reference_impl.tiered.segment_cache import SegmentCache
from reference_impl.tiered.segments import MetadataEvent, PartitionDeleteState

T = TypeVar("T")
NAME = "AAECAwQFBgcICQoLDA0ODw-0"
ENTRY = VECTOR_5[27:115]  # the segment, with its length
DELETION = VECTOR_5[115:]


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def cache_of(*events: MetadataEvent) -> SegmentCache:
    cache = SegmentCache(ORDERS)
    for event in events:
        assert cache.apply(event) is Outcome.APPLIED, event
    return cache


def test_a_flat_file_is_the_bytes_of_its_vector() -> None:
    cache = cache_of(STARTED, FINISHED, MARKED)

    assert encode_flat_file(ORDERS, 2022, cache.segments(), cache.deletion) == VECTOR_5
    assert decode_flat_file(VECTOR_5, ORDERS) == (2022, cache.segments(), MARKED)
    assert file_name(ORDERS) == NAME


DAMAGED = {
    "another magic": b"\x02" + VECTOR_5[1:],
    "another name": VECTOR_5.replace(b"orders", b"orderz"),
    "another id": VECTOR_5.replace(ORDERS.topic_id.bytes, bytes(16)),
    "a negative offset": VECTOR_5[:25] + b"\x01" + VECTOR_5[27:],
    "an offset without end": VECTOR_5[:25] + b"\xff" * 10 + VECTOR_5[27:],
    "an unknown type": VECTOR_5.replace(b"\x57\x00\x00", b"\x57\x02\x00"),
    "an unknown version": VECTOR_5.replace(b"\x57\x00\x00", b"\x57\x00\x01"),
    "an unknown version of the deletion": VECTOR_5.replace(b"\x0f\x01\x00", b"\x0f\x01\x01"),
    "a deleted segment": VECTOR_5[:114] + b"\x03" + DELETION,
    "an impossible state": VECTOR_5[:114] + b"\x04" + DELETION,
    "an impossible deletion": VECTOR_5[:-1] + b"\x03",
    "a segment twice": VECTOR_5 + ENTRY,
    "a deletion twice": VECTOR_5 + DELETION,
    "bytes left over in an entry": VECTOR_5[:-16] + b"\x10" + VECTOR_5[-15:] + b"\0",
    "an entry that is too short": VECTOR_5[:115] + b"\x0e" + VECTOR_5[116:-1],
    "bytes left over": VECTOR_5 + b"\0",
    "nothing": b"",
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_flat_file_is_not_taken(how: str) -> None:
    assert DAMAGED[how] != VECTOR_5
    with pytest.raises(BadRecord):
        decode_flat_file(DAMAGED[how], ORDERS)


def test_a_flat_file_that_is_torn_within_an_entry_is_not_taken() -> None:
    for cut in range(len(VECTOR_5)):
        if cut not in (27, 115):  # whole entries; the file beside it knows what is missing
            with pytest.raises(BadRecord):
                decode_flat_file(VECTOR_5[:cut], ORDERS)


def test_committed_offsets_are_lines_in_ascending_order_and_read_in_any() -> None:
    assert encode_committed_offsets({23: 2022}) == bytes.fromhex("323320323032320a")
    assert encode_committed_offsets({0: 2022, 4: 104, 2: 498}) == b"0 2022\n2 498\n4 104\n"
    assert decode_committed_offsets(b"0 2022\n4 104\n2 498\n") == {0: 2022, 4: 104, 2: 498}
    assert decode_committed_offsets(b"") == {}


@pytest.mark.parametrize(
    "data",
    [
        b"0 2022",
        b"0 2022\n4\n",
        b"0  2022\n",
        b"0 2022 \n",
        b" 0 2022\n",
        b"0 -1\n",
        b"-1 0\n",
        b"a 0\n",
        b"\n",
        b"0 1\n\n",
        b"0 1\n0 1\n",
        b"0 1\r\n",
        b"0 \xc2\xb2\n",
        b"0 9223372036854775808\n",
    ],
)
def test_a_bad_line_spoils_all_committed_offsets(data: bytes) -> None:
    with pytest.raises(BadRecord):
        decode_committed_offsets(data)


# What cannot be seen in the segments that are left, and decides the next events.
HISTORY: tuple[MetadataEvent, ...] = (
    segment(1, 5, 9, epoch=2),
    update(1, COPIED, epoch=2),
    segment(2, 0, 4, epoch=2),
    segment(5, epoch=2),
    update(5, DELETING, epoch=5),
    segment(3, epoch=7),
    update(3, DELETING, epoch=7),
    update(3, DELETED, epoch=7),
    update(2, DELETING, epoch=2),
)


def kept(tmp_path: Path, cache: SegmentCache, next_offset: int = 11) -> Kept | None:
    """What is read after this was written."""

    async def stored_and_loaded() -> Kept | None:
        files = MetadataFiles(FileDisk(tmp_path))
        await files.store(cache, next_offset)
        return await files.load(ORDERS)

    return run(stored_and_loaded())


def test_what_is_kept_comes_back_and_judges_events_alike(tmp_path: Path) -> None:
    cache = cache_of(*HISTORY)
    found = kept(tmp_path, cache)

    assert found is not None
    assert found.next_offset == 11
    assert found.cache.segments() == cache.segments()
    assert found.cache.highest_epoch == 7
    for event, outcome in (
        (segment(3, epoch=7), Outcome.ILLEGAL),
        (update(3, DELETED, epoch=7), Outcome.NO_OP),
        (segment(4, epoch=6), Outcome.FENCED),
        (update(5, DELETED, epoch=5), Outcome.FENCED),  # it began in another epoch
        (update(2, DELETED, epoch=2), Outcome.APPLIED),
    ):
        assert cache.apply(event) is outcome
        assert found.cache.apply(event) is outcome


def test_a_finished_deletion_leaves_its_entry_alone(tmp_path: Path) -> None:
    states: list[PartitionDeleteState] = [MARKED.state, REMOVING, REMOVED]
    found = kept(tmp_path, cache_of(*(deletion(state) for state in states)), 3)

    data = (tmp_path / FOLDER / NAME).read_bytes()
    assert len(data) == 26 + 16
    assert found is not None
    assert found.cache.deletion == deletion(REMOVED)


@pytest.mark.parametrize("name", [NAME, f"{NAME}.fencing"])
def test_a_file_that_is_lost_cut_or_changed_anywhere_counts_as_missing(
    tmp_path: Path, name: str
) -> None:
    kept(tmp_path, cache_of(*HISTORY))
    path = tmp_path / FOLDER / name
    data = path.read_bytes()
    files = MetadataFiles(FileDisk(tmp_path))

    async def loads() -> list[int]:
        taken = []
        for at in range(len(data)):
            for wrong in (data[:at], data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]):
                path.write_bytes(wrong)
                if await files.load(ORDERS) is not None:
                    taken.append(at)
        path.unlink()
        return taken if await files.load(ORDERS) is None else [-1]

    assert run(loads()) == []


def test_two_files_of_different_moments_do_not_belong_together(tmp_path: Path) -> None:
    kept(tmp_path, cache_of(*HISTORY[:3]))
    beside = tmp_path / FOLDER / f"{NAME}.fencing"
    old = beside.read_bytes()
    kept(tmp_path, cache_of(*HISTORY))
    beside.write_bytes(old)

    assert run(MetadataFiles(FileDisk(tmp_path)).load(ORDERS)) is None


def test_committed_offsets_come_back_or_count_as_missing(tmp_path: Path) -> None:
    files = MetadataFiles(FileDisk(tmp_path))

    assert run(files.load_committed()) is None
    run(files.store_committed({23: 2022}))
    assert run(files.load_committed()) == {23: 2022}
    (tmp_path / COMMITTED_OFFSETS).write_bytes(b"23 2022")
    assert run(files.load_committed()) is None


@pytest.mark.parametrize("name", [NAME, f"{NAME}.fencing"])
def test_a_file_that_the_disk_does_not_give_counts_as_missing(tmp_path: Path, name: str) -> None:
    kept(tmp_path, cache_of(*HISTORY))
    unreadable(tmp_path / FOLDER / name)

    assert run(MetadataFiles(FileDisk(tmp_path)).load(ORDERS)) is None


def test_committed_offsets_that_the_disk_does_not_give_count_as_missing(tmp_path: Path) -> None:
    files = MetadataFiles(FileDisk(tmp_path))
    run(files.store_committed({23: 2022}))
    unreadable(tmp_path / COMMITTED_OFFSETS)

    assert run(files.load_committed()) is None


def unreadable(path: Path) -> None:
    """Reading it is an OSError that says nothing of a missing file."""
    path.unlink()
    path.mkdir()
