"""Searches by timestamp in the remote tier."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reference_impl.kafka.errors import ErrorCode
from reference_impl.kafka.records import build_batch
from reference_impl.partitions.searching import MAX_TIMESTAMP, SearchEnd
from reference_impl.tiered.object_storage import INDEX_PARTS
from reference_impl.tiered.storage import IndexKind
from reference_impl.tiered.timestamps import later_record
from tests.tiered.read_bench import ReadBench, on_bench
from tests.tiered.remote_segments import batch

FAILED = SearchEnd(error=ErrorCode.kafka_storage_error)


@pytest.mark.parametrize(
    ("one", "other", "later"),
    [
        ((8, 5), (7, 1), True),
        ((7, 1), (7, 5), True),
        ((7, 5), (7, 5), False),
        ((7, 6), (7, 5), False),
    ],
)
def test_a_later_record_has_the_higher_timestamp_or_else_the_lower_offset(
    one: tuple[int, int], other: tuple[int, int], later: bool
) -> None:
    assert later_record(*one, *other) is later


def found(end: SearchEnd) -> tuple[int, int, int | None] | None:
    assert end.error is ErrorCode.none
    return None if end.found is None else (
        end.found.timestamp, end.found.offset, end.found.leader_epoch
    )  # fmt: skip


async def stamped(bench: ReadBench, segments: list[list[list[int]]], *, log_start: int = 0) -> int:
    """Segments of batches of timestamps, one record each; where the log goes on."""
    offset = 0
    for number, stamps in enumerate(segments):
        written = []
        for of_batch in stamps:
            written.append(_batch(offset, of_batch))
            offset += len(of_batch)
        await bench.copy(number + 1, written)
    await bench.begin(offset, [(0, log_start)], log_start=log_start)
    return offset


def _batch(offset: int, stamps: list[int]) -> bytes:
    entries = [(stamp, None, b"") for stamp in stamps]
    return build_batch(entries, base_offset=offset, leader_epoch=0)


segments_of_stamps = st.lists(
    st.lists(
        st.lists(st.integers(0, 12), min_size=1, max_size=3), min_size=1, max_size=6
    ),
    min_size=1,
    max_size=4,
)  # fmt: skip


@settings(max_examples=60)
@given(segments=segments_of_stamps, wanted=st.integers(0, 13), start=st.integers(0, 5))
@example(segments=[[[5], [3], [9]], [[9], [1]]], wanted=9, start=0)
def test_what_is_found_is_what_a_scan_of_all_records_finds(
    segments: list[list[list[int]]], wanted: int, start: int
) -> None:
    stamps = [one for segment in segments for of_batch in segment for one in of_batch]
    start = min(start, len(stamps) - 1)

    async def story(bench: ReadBench) -> tuple[SearchEnd, SearchEnd]:
        await stamped(bench, segments, log_start=start)
        return await bench.find(wanted), await bench.find(MAX_TIMESTAMP)

    first, latest = on_bench(story)
    expected = [(one, at, 0) for at, one in enumerate(stamps) if at >= start and one >= wanted]
    assert found(first) == (expected[0] if expected else None)
    highest = max(stamps[start:])
    assert found(latest) == (highest, stamps.index(highest, start), 0)


async def diverged(bench: ReadBench) -> None:
    """The latest record of the first segment, and its highest timestamp, are of another lineage."""
    await bench.copy(1, [batch(0, 0, timestamp=10), batch(1, 0, timestamp=99)])
    await bench.copy(2, [batch(1, 1, timestamp=20), batch(2, 1, timestamp=15)])
    await bench.begin(3, [(0, 0), (1, 1)])


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [(5, (10, 0, 0)), (11, (20, 1, 1)), (21, None), (MAX_TIMESTAMP, (20, 1, 1))],
)
def test_records_of_another_lineage_are_not_found(
    timestamp: int, expected: tuple[int, int, int] | None
) -> None:
    async def story(bench: ReadBench) -> SearchEnd:
        await diverged(bench)
        return await bench.find(timestamp)

    assert found(on_bench(story)) == expected


def test_a_search_that_may_take_no_time_is_attempted_all_the_same() -> None:
    async def story(bench: ReadBench) -> SearchEnd:
        await stamped(bench, [[[1], [2]], [[3]]])
        return await bench.find(2, timeout_s=0.0)

    assert found(on_bench(story)) == (2, 1, 0)


def test_a_timestamp_later_than_all_segments_needs_no_remote_call() -> None:
    async def story(bench: ReadBench) -> tuple[SearchEnd, int]:
        await stamped(bench, [[[1], [2]], [[3]]])
        bench.levers.refuse("object_store")
        return await bench.find(4), bench.counted(bench.tier.meters.read_requests)

    assert on_bench(story) == (SearchEnd(), 0)


def test_the_maximum_needs_no_remote_call_if_the_disk_has_a_later_record() -> None:
    async def story(bench: ReadBench) -> list[SearchEnd]:
        end = await stamped(bench, [[[1], [2]], [[3]]])
        bench.levers.refuse("object_store")
        ended = [await bench.find(MAX_TIMESTAMP)]
        await bench.log.append_as_follower(batch(end, 0, timestamp=3))
        ended.append(await bench.find(MAX_TIMESTAMP))
        await bench.log.append_as_follower(batch(end + 1, 0, timestamp=4))
        return [*ended, await bench.find(MAX_TIMESTAMP)]

    assert on_bench(story) == [FAILED, FAILED, SearchEnd()]  # of equal ones the first counts


def test_a_search_that_needs_the_store_fails_at_its_deadline() -> None:
    async def story(bench: ReadBench) -> tuple[SearchEnd, float]:
        await stamped(bench, [[[1], [2]], [[3]]])
        bench.levers.refuse("object_store")
        begun = bench.now_s()
        return await bench.find(2, timeout_s=7.0), bench.now_s() - begun

    ended, took = on_bench(story)
    assert ended == FAILED
    assert took == pytest.approx(7.0, abs=0.001)


def test_a_search_succeeds_when_the_store_is_back() -> None:
    async def story(bench: ReadBench) -> SearchEnd:
        await stamped(bench, [[[1], [2]], [[3]]])
        away = bench.levers.refuse("object_store")
        asyncio.get_running_loop().call_later(3, away.release)
        return await bench.find(2, timeout_s=30)

    assert found(on_bench(story)) == (2, 1, 0)


def test_a_hole_in_what_is_known_is_an_error_and_not_passed_over() -> None:
    async def story(bench: ReadBench) -> SearchEnd:
        await bench.copy(1, [batch(0, 0, timestamp=1)])
        await bench.copy(2, [batch(2, 0, timestamp=3)], epochs=[(0, 0)])
        await bench.begin(3, [(0, 0)])
        return await bench.find(2)

    assert on_bench(story) == FAILED


@pytest.mark.parametrize("kind", [IndexKind.TIMESTAMP, IndexKind.OFFSET])
@pytest.mark.parametrize("bit", range(0, 96, 5))
def test_whatever_an_index_says_the_record_is_the_right_one(kind: IndexKind, bit: int) -> None:
    async def story(bench: ReadBench) -> list[SearchEnd]:
        await stamped(bench, [[[10], [20], [18], [30], [25], [40]]])
        (key,) = [
            one.key
            for one in await bench.bench.node.store.list()
            if one.key.endswith(INDEX_PARTS[kind])
        ]
        data = bytearray(await bench.bench.node.store.get(key))
        place = min(12 + bit // 8, len(data) - 1)
        data[place] ^= 1 << bit % 8
        await bench.bench.node.store.put(key, bytes(data))
        return [await bench.find(timestamp) for timestamp in (15, 19, 26, 35, MAX_TIMESTAMP)]

    ended = [found(one) for one in on_bench(story)]
    assert [one and one[1] for one in ended] == [1, 1, 3, 5, 5]


def test_missing_indexes_are_rebuilt_for_a_search() -> None:
    async def story(bench: ReadBench) -> SearchEnd:
        await stamped(bench, [[[10], [20], [18]], [[30]]])
        store = bench.bench.node.store
        await store.delete([one.key for one in await store.list() if "index" in one.key])
        return await bench.find(19)

    assert found(on_bench(story)) == (20, 1, 0)


def test_a_damaged_segment_fails_the_search_that_needs_it() -> None:
    async def story(bench: ReadBench) -> SearchEnd:
        await stamped(bench, [[[10], [20], [18]], [[30]]])
        store = bench.bench.node.store
        key = next(one.key for one in await store.list() if one.key.endswith("segment.log"))
        data = bytearray(await store.get(key))
        data[-1] ^= 1
        await store.put(key, bytes(data))
        return await bench.find(19)

    assert on_bench(story) == FAILED


def test_the_timestamp_of_a_large_batch_is_found() -> None:
    async def story(bench: ReadBench) -> SearchEnd:
        large = batch(1, 0, timestamp=100, count=30_000)
        assert len(large) > 300_000
        await bench.copy(1, [batch(0, 0, timestamp=5), large])
        await bench.begin(30_001, [(0, 0)])
        return await bench.find(20_000, timeout_s=5)

    assert found(on_bench(story)) == (20_000, 19_901, 0)
