"""Indexes of remote segments: checked when they are read, rebuilt when they are missing (C-40)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.log.config import LogConfig
from reference_impl.log.indexes import CorruptIndex
from reference_impl.log.log import Log
from reference_impl.tiered.index_cache import IndexCache
from reference_impl.tiered.object_storage import INDEX_PARTS, ObjectStorageManager
from reference_impl.tiered.remote_indexes import (
    AbortedTransaction,
    RemoteIndexes,
    decode_aborted,
    decode_offsets,
    decode_times,
    encode_aborted,
)
from reference_impl.tiered.segments import RemoteLogSegmentMetadata
from reference_impl.tiered.storage import (
    IndexKind,
    RemoteResourceNotFoundException,
    RemoteStorageException,
)
from tests.ports.sim_node_benches import SimNodeBench, sim_node
from tests.tiered.remote_segments import Copy, batch, copy_of, segment

Result = TypeVar("Result")

COPY = copy_of(1, [batch(offset, 0) for offset in range(10, 20)])
ABORTED = (
    AbortedTransaction(producer_id=7, first_offset=3, last_offset=12, last_stable_offset=3),
    AbortedTransaction(producer_id=8, first_offset=11, last_offset=15, last_stable_offset=13),
)


class CountedStorage(ObjectStorageManager):
    """The manager on the object store, with a list of what was read."""

    def __init__(self, bench: SimNodeBench) -> None:
        super().__init__(bench.ports)
        self.calls: list[str] = []

    async def fetch_index(self, metadata: RemoteLogSegmentMetadata, kind: IndexKind) -> bytes:
        self.calls.append(kind)
        return await super().fetch_index(metadata, kind)

    async def fetch_log_segment(
        self, metadata: RemoteLogSegmentMetadata, start: int, end: int | None = None
    ) -> bytes:
        self.calls.append("Segment")
        return await super().fetch_log_segment(metadata, start, end)


class Indexed:
    """A node with a copied segment and an empty cache."""

    def __init__(self, bench: SimNodeBench, copy: Copy = COPY) -> None:
        self.bench = bench
        self.copy = copy
        self.storage = CountedStorage(bench)
        self.restart()

    def restart(self) -> None:
        cache = IndexCache(self.bench.disk, "data", lambda: 1 << 20)
        self.indexes = RemoteIndexes(self.storage, cache)

    async def begin(self) -> None:
        await self.storage.copy_log_segment_data(self.copy.metadata, self.copy.data)

    async def lose(self, kind: IndexKind) -> None:
        await self.bench.store.delete([await self._key(INDEX_PARTS[kind])])

    async def overwrite(self, part: str, data: bytes) -> None:
        await self.bench.store.put(await self._key(part), data)

    async def _key(self, part: str) -> str:
        return next(one.key for one in await self.bench.store.list() if one.key.endswith(part))


def on_node(
    story: Callable[[Indexed], Awaitable[Result]], copy: Copy = COPY, seed: int = 1
) -> Result:
    async def whole() -> Result:
        await indexed.begin()
        return await story(indexed)

    with sim_node(seed) as bench:
        indexed = Indexed(bench, copy)
        return bench.run(whole)


# --- decoding -------------------------------------------------------------------------------------


def test_what_a_log_wrote_is_read_again() -> None:
    offsets = decode_offsets(COPY.data.offset_index, COPY.metadata)
    times = decode_times(COPY.data.time_index, COPY.metadata)
    assert offsets.encoded(0) == COPY.data.offset_index != b""
    assert times.encoded(0) == COPY.data.time_index != b""
    assert decode_aborted(encode_aborted(ABORTED), COPY.metadata) == ABORTED


def entry(*numbers: int, sizes: tuple[int, ...] = (4, 4)) -> bytes:
    return b"".join(
        number.to_bytes(size, "big", signed=True)
        for number, size in zip(numbers, sizes, strict=True)
    )


TIME = (8, 4)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\0" * 7, id="no whole entry"),
        pytest.param(entry(2, 200) + entry(2, 300), id="offsets do not rise"),
        pytest.param(entry(2, 200) + entry(3, 200), id="places do not rise"),
        pytest.param(entry(10, 200), id="offset beyond the segment"),
        pytest.param(entry(2, COPY.metadata.segment_size_bytes), id="place beyond the segment"),
    ],
)
def test_an_offset_index_that_cannot_be_one_is_refused(data: bytes) -> None:
    with pytest.raises(CorruptIndex):
        decode_offsets(data, COPY.metadata)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\0" * 11, id="no whole entry"),
        pytest.param(entry(5, 2, sizes=TIME) + entry(5, 3, sizes=TIME), id="times do not rise"),
        pytest.param(entry(5, 3, sizes=TIME) + entry(6, 2, sizes=TIME), id="offsets fall"),
        pytest.param(entry(5, 10, sizes=TIME), id="offset beyond the segment"),
        pytest.param(entry(1020, 3, sizes=TIME), id="later than the segment's latest"),
    ],
)
def test_a_time_index_that_cannot_be_one_is_refused(data: bytes) -> None:
    with pytest.raises(CorruptIndex):
        decode_times(data, COPY.metadata)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\0" * 33, id="no whole entry"),
        pytest.param(b"\0\1" + encode_aborted(ABORTED)[2:], id="another version"),
        pytest.param(encode_aborted(ABORTED[::-1]), id="ends do not rise"),
        pytest.param(encode_aborted((ABORTED[0]._replace(last_offset=20),)), id="beyond"),
        pytest.param(encode_aborted((ABORTED[0]._replace(last_offset=9),)), id="before"),
        pytest.param(encode_aborted((ABORTED[0]._replace(first_offset=13),)), id="ends first"),
    ],
)
def test_a_transaction_index_that_cannot_be_one_is_refused(data: bytes) -> None:
    with pytest.raises(CorruptIndex):
        decode_aborted(data, COPY.metadata)


# --- fetching -------------------------------------------------------------------------------------


def test_an_index_is_fetched_once_and_found_on_disk_after_a_restart() -> None:
    async def story(indexed: Indexed) -> tuple[list[bytes], list[str]]:
        found = []
        for _ in range(2):
            found.append((await indexed.indexes.offsets(COPY.metadata, 0)).encoded(0))
            found.append((await indexed.indexes.times(COPY.metadata, 0)).encoded(0))
            indexed.restart()
        return found, indexed.storage.calls

    both = [COPY.data.offset_index, COPY.data.time_index]
    assert on_node(story) == (both * 2, ["Offset", "Timestamp"])


def test_several_that_want_one_index_make_one_remote_call() -> None:
    async def story(indexed: Indexed) -> list[str]:
        reads = [indexed.indexes.offsets(COPY.metadata, 0) for _ in range(5)]
        found = await asyncio.gather(*reads)
        assert all(one is found[0] for one in found)
        return indexed.storage.calls

    assert on_node(story) == ["Offset"]


@pytest.mark.parametrize("seed", range(3))
def test_when_the_one_that_fetches_is_cancelled_another_fetches(seed: int) -> None:
    async def story(indexed: Indexed) -> bytes:
        loop = asyncio.get_running_loop()
        first = loop.create_task(indexed.indexes.offsets(COPY.metadata, 0))
        while not indexed.storage.calls:
            await asyncio.sleep(0.0001)
        second = loop.create_task(indexed.indexes.offsets(COPY.metadata, 0))
        await asyncio.sleep(0.0001)
        first.cancel()
        return (await second).encoded(0)

    assert on_node(story, seed=seed) == COPY.data.offset_index


def test_an_index_that_is_dropped_is_asked_for_again() -> None:
    async def story(indexed: Indexed) -> list[str]:
        await indexed.indexes.offsets(COPY.metadata, 0)
        await indexed.indexes.drop(COPY.metadata.segment_id)
        await indexed.indexes.offsets(COPY.metadata, 0)
        return indexed.storage.calls

    assert on_node(story) == ["Offset", "Offset"]


# --- rebuilding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", [None, b"no index", entry(10, 200), entry(2, 1 << 20)])
def test_an_index_that_is_missing_or_damaged_is_rebuilt_and_kept(damage: bytes | None) -> None:
    async def story(indexed: Indexed) -> tuple[bytes, list[str]]:
        if damage is None:
            await indexed.lose(IndexKind.OFFSET)
        else:
            await indexed.overwrite(INDEX_PARTS[IndexKind.OFFSET], damage)
        await indexed.indexes.offsets(COPY.metadata, 0)
        indexed.restart()
        return (await indexed.indexes.offsets(COPY.metadata, 0)).encoded(0), indexed.storage.calls

    assert on_node(story) == (COPY.data.offset_index, ["Offset", "Segment"])


def test_a_missing_transaction_index_is_empty_and_that_is_remembered() -> None:
    async def story(indexed: Indexed) -> tuple[object, object, list[str]]:
        first = await indexed.indexes.aborted(COPY.metadata)
        indexed.restart()
        return first, await indexed.indexes.aborted(COPY.metadata), indexed.storage.calls

    assert on_node(story) == ((), (), ["Transaction"])


def test_a_damaged_transaction_index_is_an_error_until_it_is_mended() -> None:
    copy = copy_of(1, [batch(offset, 0) for offset in range(10, 20)], aborted=ABORTED)

    async def story(indexed: Indexed) -> object:
        await indexed.overwrite(INDEX_PARTS[IndexKind.TRANSACTION], b"no index")
        for _ in range(2):
            with pytest.raises(RemoteStorageException):
                await indexed.indexes.aborted(copy.metadata)
        await indexed.begin()
        return await indexed.indexes.aborted(copy.metadata)

    assert on_node(story, copy) == ABORTED


def test_without_segment_and_index_the_segment_is_what_is_missing() -> None:
    async def story(indexed: Indexed) -> None:
        await indexed.storage.delete_log_segment_data(COPY.metadata)
        with pytest.raises(RemoteResourceNotFoundException, match=r"segment\.log"):
            await indexed.indexes.times(COPY.metadata, 0)

    on_node(story)


def test_what_is_rebuilt_ends_before_the_first_damaged_batch() -> None:
    batches = [batch(offset, 0) for offset in range(10, 20)]
    size = len(batches[0])
    torn = bytearray(b"".join(batches))
    torn[5 * size + 70] ^= 1

    async def story(indexed: Indexed) -> bytes:
        await indexed.overwrite("segment.log", bytes(torn))
        await indexed.lose(IndexKind.OFFSET)
        return (await indexed.indexes.offsets(COPY.metadata, 0)).encoded(0)

    assert on_node(story) == COPY.data.offset_index[: 4 * 8]


@settings(max_examples=25)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=30),
    timestamps=st.lists(st.integers(0, 50), min_size=30, max_size=30),
    interval=st.sampled_from([0, 60, 100, 250, 4096]),
)
def test_rebuilt_indexes_are_those_of_the_log(
    sizes: list[int], timestamps: list[int], interval: int
) -> None:
    async def story() -> None:
        config = LogConfig.of({"index.interval.bytes": str(interval)})
        clock = bench.ports.clock
        log = await Log.open(bench.disk, "t-0", config=config, clock=clock, clean=True)
        for size, timestamp in zip(sizes, timestamps, strict=False):
            await log.append_as_leader(batch(0, 0, timestamp=timestamp, count=size), leader_epoch=0)
        await log.roll()
        local = log.segments[0]
        made = copy_of(1, [await local.file.read(0, local.size)])
        metadata = replace(
            segment(1, 0, sum(sizes) - 1, size=local.size), max_timestamp_ms=local.max_timestamp
        )
        storage = ObjectStorageManager(bench.ports)
        await storage.copy_log_segment_data(metadata, made.data)
        keys = [one.key for one in await bench.store.list() if "index" in one.key]
        await bench.store.delete(keys)
        indexes = RemoteIndexes(storage, IndexCache(bench.disk, "", lambda: 1 << 20))
        offsets = await indexes.offsets(metadata, interval)
        times = await indexes.times(metadata, interval)
        assert offsets.encoded(0) == local.offsets.encoded(0)
        assert times.encoded(0) == local.times.encoded(0)
        await log.close(clean=True)

    with sim_node() as bench:
        bench.run(story)
