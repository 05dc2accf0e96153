"""Indexes of remote segments on disk: bounded, kept over restarts, never believed when damaged."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.simulation.gate import Act
from reference_impl.tiered.index_cache import FOLDER, IndexCache, cached_to_evict, file_name
from reference_impl.tiered.storage import IndexKind
from tests.ports.sim_node_benches import NODE, SimNodeBench, sim_node
from tests.tiered.remote_segments import segment

SEGMENTS = [segment(number, number * 10, number * 10 + 9) for number in range(8)]
KIND = IndexKind.OFFSET


def cache_on(bench: SimNodeBench, limit: int = 1000) -> IndexCache:
    return IndexCache(bench.disk, "data", lambda: limit)


async def names(bench: SimNodeBench) -> list[str]:
    return list(await bench.disk.names(f"data/{FOLDER}"))


@pytest.mark.parametrize(
    ("sizes", "limit", "gone"),
    [((), 10, 0), ((4, 6), 10, 0), ((4, 6, 1), 10, 1), ((4, 6, 7), 10, 2), ((11,), 10, 1)],
)
def test_the_least_recently_used_go_until_the_rest_fits(
    sizes: tuple[int, ...], limit: int, gone: int
) -> None:
    assert cached_to_evict(sizes, limit) == gone


def test_what_was_put_is_there_after_a_restart() -> None:
    async def story() -> list[bytes | None]:
        await cache_on(bench).put(SEGMENTS[1], KIND, b"offsets")
        await cache_on(bench).put(SEGMENTS[1], IndexKind.TRANSACTION, b"")
        again = cache_on(bench)
        return [
            await again.get(SEGMENTS[1], KIND),
            await again.get(SEGMENTS[1], IndexKind.TRANSACTION),
            await again.get(SEGMENTS[1], IndexKind.TIMESTAMP),
            await again.get(SEGMENTS[2], KIND),
        ]

    with sim_node() as bench:
        assert bench.run(story) == [b"offsets", b"", None, None]


def test_a_use_keeps_an_index_and_the_longest_unused_makes_room() -> None:
    async def story() -> list[bool]:
        cache = cache_on(bench, limit=3 * 14)
        for one in SEGMENTS[:3]:
            await cache.put(one, KIND, b"ten bytes.")
        await cache.get(SEGMENTS[0], KIND)
        await cache.put(SEGMENTS[3], KIND, b"ten bytes.")
        assert cache.total_bytes == 3 * 14
        assert len(await names(bench)) == 3
        return [await cache.get(one, KIND) is not None for one in SEGMENTS[:4]]

    with sim_node() as bench:
        assert bench.run(story) == [True, False, True, True]


def test_an_index_beyond_the_limit_is_not_kept_and_costs_no_other() -> None:
    async def story() -> list[bytes | None]:
        cache = cache_on(bench, limit=20)
        await cache.put(SEGMENTS[0], KIND, b"small")
        await cache.put(SEGMENTS[1], KIND, b"x" * 100)
        return [await cache.get(one, KIND) for one in SEGMENTS[:2]]

    with sim_node() as bench:
        assert bench.run(story) == [b"small", None]


def test_a_lower_limit_holds_after_a_restart() -> None:
    async def story() -> int:
        for one in SEGMENTS:
            await cache_on(bench).put(one, KIND, b"ten bytes.")
        await cache_on(bench, limit=30).put(SEGMENTS[0], KIND, b"ten bytes.")
        return len(await names(bench))

    with sim_node() as bench:
        assert bench.run(story) == 2


def test_all_indexes_of_a_segment_are_dropped_and_no_others() -> None:
    async def story() -> list[str]:
        cache = cache_on(bench)
        for kind in (IndexKind.OFFSET, IndexKind.TIMESTAMP, IndexKind.TRANSACTION):
            await cache.put(SEGMENTS[1], kind, b"")
        await cache.put(SEGMENTS[2], KIND, b"")
        await cache_on(bench).drop(SEGMENTS[1].segment_id)
        return await names(bench)

    with sim_node() as bench:
        assert bench.run(story) == [file_name(SEGMENTS[2], KIND)]


@settings(max_examples=40)
@given(place=st.integers(0, 10), bit=st.integers(0, 7), cut=st.booleans())
def test_a_damaged_file_is_not_believed_and_is_removed(place: int, bit: int, cut: bool) -> None:
    async def story() -> tuple[bytes | None, list[str]]:
        cache = cache_on(bench)
        await cache.put(SEGMENTS[1], KIND, b"offsets")
        file = await bench.disk.open(f"data/{FOLDER}/{file_name(SEGMENTS[1], KIND)}")
        data = bytearray(await file.read(0, 100))
        data[place] ^= 1 << bit
        await file.truncate(place if cut else 0)
        if not cut:
            await file.append(bytes(data))
        await file.close()
        return await cache_on(bench).get(SEGMENTS[1], KIND), await names(bench)

    with sim_node() as bench:
        assert bench.run(story) == (None, [])


@pytest.mark.parametrize("act", [Act.FAIL, Act.KILL, Act.KILL_AFTER])
@pytest.mark.parametrize("effect", range(1, 6))
def test_a_disk_or_a_process_that_fails_leaves_no_half_file(act: Act, effect: int) -> None:
    async def put() -> None:
        await cache_on(bench).put(SEGMENTS[1], KIND, b"offsets")

    async def story() -> tuple[bytes | None, list[str]]:
        cache = cache_on(bench)
        found = await cache.get(SEGMENTS[1], KIND)
        return found, await names(bench)

    with sim_node() as bench:
        effects = bench.sim.effects
        effects.order(NODE, effects.counts.get(NODE, 0) + effect, act)
        if act is Act.FAIL:
            bench.run(put)
        else:
            bench.sim.kill(NODE)
            node = bench.sim.nodes[NODE]
            lend, node.program = (
                node.program,
                lambda ports: IndexCache(ports.disk, "data", lambda: 1000).put(
                    SEGMENTS[1], KIND, b"offsets"
                ),
            )
            bench.sim.start(NODE)
            bench.sim.advance(1)
            node.program = lend
            if node.up:
                bench.sim.kill(NODE)
            bench.sim.start(NODE)
            bench.sim.advance(1)
        assert bench.run(story) in [
            (b"offsets", [file_name(SEGMENTS[1], KIND)]),
            (None, []),
        ]


def test_a_put_that_is_cancelled_leaves_nothing_that_a_restart_believes() -> None:
    async def story() -> tuple[bytes | None, list[str]]:
        for steps in range(12):
            task = asyncio.get_running_loop().create_task(
                cache_on(bench).put(SEGMENTS[1], KIND, b"offsets")
            )
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert await cache_on(bench).get(SEGMENTS[1], KIND) in (None, b"offsets")
        again = cache_on(bench)
        await again.put(SEGMENTS[1], KIND, b"offsets")
        return await again.get(SEGMENTS[1], KIND), await names(bench)

    with sim_node() as bench:
        assert bench.run(story) == (b"offsets", [file_name(SEGMENTS[1], KIND)])
