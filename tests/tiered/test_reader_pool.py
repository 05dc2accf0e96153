"""Remote reads are bounded: so many at once, so many in the queue."""

from __future__ import annotations

import asyncio

import pytest

from reference_impl.tiered.reader_pool import PoolFull, ReaderPool, admit_remote_read
from tests.ports.sim_node_benches import sim_node


@pytest.mark.parametrize(
    ("idle", "waiting", "max_pending", "admitted"),
    [(True, 0, 1, True), (True, 5, 1, True), (False, 0, 1, True), (False, 1, 1, False)],
)
def test_a_read_is_refused_when_all_readers_work_and_the_queue_is_full(
    idle: bool, waiting: int, max_pending: int, admitted: bool
) -> None:
    assert admit_remote_read(idle, waiting, max_pending) is admitted


class Reads:
    """Reads of a pool, each of which ends when it is told to."""

    def __init__(self, threads: int, max_pending: int) -> None:
        self.threads = threads
        self.now_ns = 0
        self.pool = ReaderPool(lambda: self.threads, lambda: max_pending, lambda: self.now_ns)
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(self, *names: str) -> None:
        for name in names:
            self.ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.get_running_loop().create_task(self._read(name))
            await asyncio.sleep(0.01)

    async def _read(self, name: str) -> None:
        async with self.pool.reader():
            self.begun.append(name)
            await self.ends[name].wait()

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await asyncio.sleep(0.01)

    async def cancel(self, name: str) -> None:
        self.tasks[name].cancel()
        await asyncio.sleep(0.01)

    async def end_all(self) -> None:
        for name, task in self.tasks.items():
            self.ends[name].set()
            if not task.done():
                await asyncio.wait_for(asyncio.shield(task), 1)
        assert (self.pool.busy, self.pool.task_queue_size) == (0, 0)


def test_reads_wait_for_a_reader_in_the_order_in_which_they_came() -> None:
    async def story() -> list[str]:
        reads = Reads(2, 10)
        await reads.begin("a", "b", "c", "d")
        assert reads.begun == ["a", "b"]
        assert (reads.pool.busy, reads.pool.task_queue_size) == (2, 2)
        await reads.end("b")
        assert reads.begun == ["a", "b", "c"]
        await reads.end_all()
        return reads.begun

    with sim_node() as bench:
        assert bench.run(story) == ["a", "b", "c", "d"]


def test_a_full_queue_refuses_at_once_and_takes_reads_again_when_it_has_room() -> None:
    async def story() -> None:
        reads = Reads(1, 1)
        await reads.begin("a", "b", "c")
        with pytest.raises(PoolFull):
            await reads.tasks["c"]
        await reads.end("a")
        await reads.begin("d")
        assert not reads.tasks["d"].done()
        await reads.end_all()
        assert reads.begun == ["a", "b", "d"]

    with sim_node() as bench:
        bench.run(story)


def test_a_read_that_is_cancelled_gives_its_reader_or_its_place_back() -> None:
    async def story() -> None:
        reads = Reads(1, 2)
        await reads.begin("a", "b", "c")
        await reads.cancel("b")
        assert reads.pool.task_queue_size == 1
        await reads.cancel("a")
        assert reads.begun == ["a", "c"]
        await reads.end("c")
        assert (reads.pool.busy, reads.pool.task_queue_size) == (0, 0)

    with sim_node() as bench:
        bench.run(story)


@pytest.mark.parametrize("seed", range(4))
def test_a_reader_handed_to_a_read_that_is_cancelled_goes_to_the_next(seed: int) -> None:
    async def story() -> None:
        reads = Reads(1, 2)
        await reads.begin("a", "b", "c")
        reads.ends["a"].set()
        while reads.pool.task_queue_size == 2:
            await asyncio.sleep(0)
        # "a" has handed its reader to "b", which has run or not: that is up to the schedule.
        reads.tasks["b"].cancel()
        await asyncio.sleep(0.01)
        assert [one for one in reads.begun if one != "b"] == ["a", "c"]
        await reads.end("c")
        assert (reads.pool.busy, reads.pool.task_queue_size) == (0, 0)

    with sim_node(seed) as bench:
        bench.run(story)


def test_more_readers_take_what_waits() -> None:
    async def story() -> list[str]:
        reads = Reads(1, 10)
        await reads.begin("a", "b")
        reads.threads = 3
        await reads.begin("c")
        begun = sorted(reads.begun)
        await reads.end_all()
        return begun

    with sim_node() as bench:
        assert bench.run(story) == ["a", "b", "c"]


def test_the_time_at_work_counts_every_reader() -> None:
    async def story() -> list[int]:
        reads = Reads(2, 10)
        await reads.begin("a", "b")
        reads.now_ns = 10
        await reads.end("a")
        reads.now_ns = 15
        counted = [reads.pool.busy_ns]
        await reads.end_all()
        reads.now_ns = 100
        return [*counted, reads.pool.busy_ns]

    with sim_node() as bench:
        assert bench.run(story) == [25, 25]
