"""What a remote storage manager promises, whatever keeps the objects (C-04)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.simulation.gate import Act
from reference_impl.ports import Ports
from reference_impl.ports.object_store import ObjectStore
from reference_impl.tiered.object_storage import KEY_PREFIX, ObjectStorageManager
from reference_impl.tiered.segments import TopicIdPartition
from reference_impl.tiered.storage import (
    IndexKind,
    LogSegmentData,
    RemoteResourceNotFoundException,
    RemoteStorageException,
    RemoteStorageManager,
)
from tests.ports.object_store_benches import OBJECT_STORES, ObjectStoreBench
from tests.ports.sim_node_benches import NODE, sim_node
from tests.tiered.remote_segments import ORDERS, parts, segment, without_transactions

DATA = parts(b"0123456789")
SEGMENT = segment(1, 6, 8)
ORDER = [
    "transaction.index",
    "leader-epoch.checkpoint",
    "offset.index",
    "producer.snapshot",
    "segment.log",
    "time.index",
]


def manager_on(store: ObjectStore) -> ObjectStorageManager:
    return ObjectStorageManager(cast(Ports, SimpleNamespace(object_store=store)))


@dataclass
class Managed:
    """A manager, on a store that can be looked into."""

    bench: ObjectStoreBench
    manager: RemoteStorageManager

    def keys(self) -> list[str]:
        found = self.bench.run(self.bench.store.list)
        return [one.key for one in found]

    def parts(self) -> list[str]:
        return [key.rpartition("/")[2] for key in self.keys()]


@pytest.fixture(params=OBJECT_STORES)
def remote(request: pytest.FixtureRequest) -> Iterator[Managed]:
    with request.param(request) as bench:
        yield Managed(bench, manager_on(bench.store))


def test_a_copy_can_be_read_whole_and_by_index(remote: Managed) -> None:
    async def story() -> tuple[bytes, dict[IndexKind, bytes]]:
        await remote.manager.copy_log_segment_data(SEGMENT, DATA)
        indexes = {kind: await remote.manager.fetch_index(SEGMENT, kind) for kind in IndexKind}
        return await remote.manager.fetch_log_segment(SEGMENT, 0), indexes

    assert remote.bench.run(story) == (DATA.segment, dict(DATA.indexes()))


@pytest.mark.parametrize(
    ("start", "end", "read"),
    [
        (0, None, b"0123456789"),
        (4, None, b"456789"),
        (0, 0, b"0"),
        (3, 5, b"345"),
        (9, 9, b"9"),
        (7, 2**31 - 1, b"789"),
    ],
)
def test_both_ends_of_a_range_are_included_and_the_end_is_cut(
    remote: Managed, start: int, end: int | None, read: bytes
) -> None:
    async def story() -> bytes:
        await remote.manager.copy_log_segment_data(SEGMENT, DATA)
        return await remote.manager.fetch_log_segment(SEGMENT, start, end)

    assert remote.bench.run(story) == read


@pytest.mark.parametrize("start", [10, 11, 2**31 - 1])
def test_a_start_beyond_the_segment_is_an_error_but_not_a_missing_segment(
    remote: Managed, start: int
) -> None:
    async def story() -> None:
        await remote.manager.copy_log_segment_data(SEGMENT, DATA)
        with pytest.raises(RemoteStorageException) as caught:
            await remote.manager.fetch_log_segment(SEGMENT, start)
        assert not isinstance(caught.value, RemoteResourceNotFoundException)

    remote.bench.run(story)


@pytest.mark.parametrize(("start", "end"), [(-1, None), (2**31, None), (0, 2**31), (3, 2), (0, -1)])
def test_positions_are_int32_and_in_order(remote: Managed, start: int, end: int | None) -> None:
    async def story() -> None:
        with pytest.raises(ValueError, match="positions"):
            await remote.manager.fetch_log_segment(SEGMENT, start, end)

    remote.bench.run(story)


def test_a_segment_without_transactions_lacks_that_index_alone(remote: Managed) -> None:
    async def story() -> None:
        await remote.manager.copy_log_segment_data(SEGMENT, without_transactions(DATA))
        with pytest.raises(RemoteResourceNotFoundException, match="transaction"):
            await remote.manager.fetch_index(SEGMENT, IndexKind.TRANSACTION)
        assert await remote.manager.fetch_index(SEGMENT, IndexKind.TIMESTAMP) == b""
        assert await remote.manager.fetch_log_segment(SEGMENT, 0) == DATA.segment

    remote.bench.run(story)


def test_nothing_of_a_segment_is_found_that_was_never_copied(remote: Managed) -> None:
    async def story() -> None:
        await remote.manager.copy_log_segment_data(SEGMENT, DATA)
        other = segment(2, 6, 8)
        with pytest.raises(RemoteResourceNotFoundException):
            await remote.manager.fetch_log_segment(other, 0)
        for kind in IndexKind:
            with pytest.raises(RemoteResourceNotFoundException):
                await remote.manager.fetch_index(other, kind)

    remote.bench.run(story)


def test_a_copy_made_twice_is_the_second_and_leaves_no_more_objects(remote: Managed) -> None:
    async def story() -> bytes:
        await remote.manager.copy_log_segment_data(SEGMENT, parts(b"a longer one than before"))
        await remote.manager.copy_log_segment_data(SEGMENT, without_transactions(DATA))
        return await remote.manager.fetch_log_segment(SEGMENT, 0)

    assert remote.bench.run(story) == DATA.segment
    assert remote.parts() == sorted(set(ORDER) - {"transaction.index"})


def test_a_deletion_takes_one_copy_and_may_be_repeated(remote: Managed) -> None:
    kept = [segment(2, 6, 8), segment(1, 9, 9)]

    async def story() -> None:
        for one in (SEGMENT, *kept):
            await remote.manager.copy_log_segment_data(one, DATA)
        await remote.manager.delete_log_segment_data(SEGMENT)
        await remote.manager.delete_log_segment_data(SEGMENT)
        with pytest.raises(RemoteResourceNotFoundException):
            await remote.manager.fetch_log_segment(SEGMENT, 0)
        for one in kept:
            assert await remote.manager.fetch_log_segment(one, 0) == DATA.segment

    remote.bench.run(story)
    assert len(remote.keys()) == len(kept) * len(ORDER)


def test_topics_of_one_name_share_no_object(remote: Managed) -> None:
    again = TopicIdPartition(UUID(int=7), ORDERS.topic, ORDERS.partition)

    async def story() -> bytes:
        await remote.manager.copy_log_segment_data(SEGMENT, DATA)
        recreated = segment(1, 6, 8, partition=again)
        await remote.manager.copy_log_segment_data(recreated, parts(b"another"))
        await remote.manager.delete_log_segment_data(recreated)
        return await remote.manager.fetch_log_segment(SEGMENT, 0)

    assert remote.bench.run(story) == DATA.segment


def test_keys_begin_as_configured_and_name_topic_partition_offset_and_copy() -> None:
    with sim_node() as bench:
        manager = manager_on(bench.store)
        manager.configure({KEY_PREFIX: "cluster-7/tiers", "broker.id": "1"})
        bench.run(lambda: manager.copy_log_segment_data(SEGMENT, DATA))
        keys = [one.key for one in bench.run(bench.store.list)]
    of_copy = "00000000000000000006-00000000-0000-0000-0000-000000000001"
    prefix = f"cluster-7/tiers/{ORDERS.topic_id}/0/{of_copy}/"
    assert keys == sorted(prefix + part for part in ORDER)


def test_a_prefix_that_is_no_key_is_refused() -> None:
    with sim_node() as bench, pytest.raises(ValueError, match="not a key"):
        manager_on(bench.store).configure({KEY_PREFIX: "/tiers"})


# --- trouble --------------------------------------------------------------------------------------

troubles = st.lists(
    st.tuples(st.integers(1, 12), st.sampled_from([Act.FAIL, Act.LOSE_REPLY])), max_size=6
)


def present(keys: list[str]) -> set[str]:
    return {key.rpartition("/")[2] for key in keys}


@settings(max_examples=40)
@given(troubles=troubles, data=st.sampled_from([DATA, without_transactions(DATA)]))
def test_a_copy_is_whole_or_has_no_segment_and_repeating_it_ends_well(
    troubles: list[tuple[int, Act]], data: LogSegmentData
) -> None:
    whole = {part for part in ORDER if part != "transaction.index" or data.transaction_index}

    async def story() -> int:
        for attempt in range(1, 20):
            try:
                await manager.copy_log_segment_data(SEGMENT, data)
            except RemoteResourceNotFoundException:
                raise
            except RemoteStorageException:
                pass
            else:
                return attempt
            found = present(sorted(inside._objects))
            assert "segment.log" not in found or found == whole
        raise AssertionError("the copy never succeeds")

    with sim_node() as bench:
        inside: Any = bench.sim.store
        manager = manager_on(bench.store)
        for number, act in troubles:
            bench.sim.effects.order(NODE, bench.sim.effects.counts.get(NODE, 0) + number, act)
        bench.run(story)
        assert present(sorted(inside._objects)) == whole


@pytest.mark.parametrize("act", [Act.FAIL, Act.LOSE_REPLY])
def test_a_call_without_an_answer_may_be_repeated(act: Act) -> None:
    async def tried(call: Any, *arguments: Any) -> object:
        effects = bench.sim.effects
        effects.order(NODE, effects.counts[NODE] + 1, act)
        with pytest.raises(RemoteStorageException) as caught:
            await call(*arguments)
        assert not isinstance(caught.value, RemoteResourceNotFoundException)
        return await call(*arguments)

    async def story() -> list[object]:
        await manager.copy_log_segment_data(SEGMENT, DATA)
        return [
            await tried(manager.fetch_log_segment, SEGMENT, 2, 3),
            await tried(manager.fetch_index, SEGMENT, IndexKind.OFFSET),
            await tried(manager.delete_log_segment_data, SEGMENT),
        ]

    with sim_node() as bench:
        manager = manager_on(bench.store)
        assert bench.run(story) == [b"23", b"offsets", None]
        assert bench.run(bench.store.list) == ()
