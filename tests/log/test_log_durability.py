"""What a log relies on survives a loss of power: after a kill, a cut, or flushes that overlap."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

import pytest
from log_bench import NOW, Bench, Killed, batch

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log import LogConfig

Opened = Callable[..., Bench]
SIZE = len(batch(b"a"))
LOG = "t-0/00000000000000000000.log"


def fill(bench: Bench, count: int, epoch: int = 0) -> None:
    for _ in range(count):
        bench.append(batch(b"a", timestamp=NOW + bench.log.log_end_offset), epoch=epoch)


def lose_everything_unsynced(bench: Bench) -> None:
    bench.die()
    bench.sim.lose_power(lose="all")


def offsets(bench: Bench) -> list[int]:
    return [offset for offset, _ in bench.everything()]


# After a kill.


def test_what_is_found_after_a_kill_survives_a_loss_of_power(opened: Opened) -> None:
    bench = opened(segment_bytes=2 * SIZE)
    fill(bench, 5)
    bench.die()

    assert bench.open().recovery_point == 5
    lose_everything_unsynced(bench)

    bench.open()
    assert offsets(bench) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("segment_bytes", [SIZE, 9 * SIZE])
def test_a_cut_found_after_a_kill_survives_a_loss_of_power(
    opened: Opened, segment_bytes: int
) -> None:
    bench = opened(segment_bytes=segment_bytes)
    fill(bench, 3)
    bench.run(bench.log.flush())
    effects = {SIZE: 6, 9 * SIZE: 1}[segment_bytes]  # two segments removed, or one cut
    bench.gate.fatal, bench.gate.after = bench.gate.count + effects, True
    with pytest.raises(Killed):
        bench.run(bench.log.truncate_to(1))
    bench.die()

    assert bench.open(recovery_point=3).log_end_offset == 1
    lose_everything_unsynced(bench)

    assert bench.open(recovery_point=3).log_end_offset == 1


def test_a_recovery_point_beyond_the_end_does_not_make_a_flush_unnecessary(opened: Opened) -> None:
    bench = opened()
    fill(bench, 8)
    bench.run(bench.log.flush())
    bench.run(bench.log.truncate_to(1))
    fill(bench, 3)
    bench.die()
    bench.open(recovery_point=8)
    bench.run(bench.log.flush())
    lose_everything_unsynced(bench)

    bench.open(recovery_point=8)
    assert offsets(bench) == [0, 1, 2, 3]


# Cuts.


@pytest.mark.parametrize("after", [False, True])
def test_a_cut_that_ends_at_any_effect_leaves_no_gap(after: bool) -> None:
    for fatal in range(1, 60):
        for seed in range(6):
            bench = Bench(LogConfig(segment_bytes=2 * SIZE), seed=seed)
            bench.open()
            fill(bench, 8)
            bench.run(bench.log.flush())
            bench.gate.fatal, bench.gate.after = bench.gate.count + fatal, after
            with contextlib.suppress(Killed):
                bench.run(bench.log.truncate_to(1))
            done = not bench.gate.dead
            bench.die(power=True)

            log = bench.open(recovery_point=8)

            assert offsets(bench) == list(range(log.log_end_offset))
            assert log.log_end_offset in range(1, 2 if done else 9)
            bench.close()
        if done:
            return
    pytest.fail("the cut never ended")


async def grow(bench: Bench) -> None:
    """Append, and die before what goes on in the background comes to its turn."""
    for number in range(6):
        await bench.log.append_as_leader(batch(b"%d" % number), leader_epoch=1)
    bench.gate.dead = True


@pytest.mark.parametrize("start", [None, 20])
def test_a_recovery_point_from_before_a_cut_vouches_for_nothing_untrue(start: int | None) -> None:
    """The log is cut below a recovery point that is written down, grows past it, and power goes."""
    for seed in range(60):
        bench = Bench(LogConfig(segment_bytes=2 * SIZE), seed=seed)
        bench.open()
        fill(bench, 8)
        bench.run(bench.log.flush())
        if start is not None:
            bench.run(bench.log.restart_at(start))
        written = bench.log.recovery_point
        bench.run(bench.log.truncate_to(1))
        bench.run(grow(bench))
        bench.die(power=True)

        log = bench.open(recovery_point=written)

        assert offsets(bench) == list(range(log.log_start_offset, log.log_end_offset))
        bench.close()


# Recovery.


def put(bench: Bench, path: str, data: bytes) -> None:
    async def append() -> None:
        file = await bench.sim.open(path)
        await file.append(data)
        await file.close()

    bench.run(append())


def test_a_segment_that_begins_before_the_end_of_the_one_before_is_removed(opened: Opened) -> None:
    bench = opened()
    fill(bench, 3)
    bench.die()
    put(bench, "t-0/00000000000000000002.log", batch(b"another", base_offset=2))

    bench.open()

    assert len(bench.log.segments) == 1
    assert bench.everything() == [(0, b"a"), (1, b"a"), (2, b"a")]


def test_a_flushed_segment_without_index_that_is_damaged_ends_the_log(opened: Opened) -> None:
    bench = opened(segment_bytes=3 * SIZE)
    fill(bench, 8)
    bench.run(bench.log.close(clean=True))
    bench.sim.kill()
    bench.run(bench.sim.remove("t-0/00000000000000000000.index"))
    bench.sim.corrupt(LOG, SIZE + 30)

    bench.open(clean=True)

    assert offsets(bench) == [0]


@pytest.mark.parametrize("clean", [False, True])
def test_what_a_failed_append_left_is_cut_before_the_segment_ends(
    opened: Opened, clean: bool
) -> None:
    bench = opened()
    fill(bench, 1)
    bench.gate.fatal, bench.gate.after = bench.gate.count + 1, True
    with pytest.raises(Killed):
        bench.append(batch(b"given up"))
    bench.gate.dead = False
    if clean:
        bench.run(bench.log.close(clean=True))
    else:
        bench.run(bench.log.roll())
        fill(bench, 1)
    bench.die()

    bench.open(clean=clean)

    assert offsets(bench) == ([0] if clean else [0, 1])


def test_a_log_that_dies_while_it_is_deleted_leaves_its_beginning(opened: Opened) -> None:
    for fatal in range(1, 10):
        bench = opened(segment_bytes=SIZE)
        fill(bench, 3)
        bench.gate.fatal = bench.gate.count + fatal
        with pytest.raises(Killed):
            bench.run(bench.log.delete())
        bench.die()

        bench.open()

        assert bench.log.log_start_offset == 0
        assert offsets(bench) == list(range(bench.log.log_end_offset))


# A flush, and something else while the device works.


async def begin_flush(bench: Bench, slow: str = "sync") -> asyncio.Task[None]:
    """A flush that is under way, and waits for the device."""
    bench.gate.slow = slow
    task = asyncio.ensure_future(bench.log.flush())
    while bench.gate.slow is not None:
        await asyncio.sleep(0)
    return task


async def end_flush(bench: Bench, task: asyncio.Task[None]) -> None:
    device, bench.gate.go_on = bench.gate.go_on, asyncio.Event()
    device.set()
    await task


def test_a_flush_beside_another_does_not_rely_on_it(opened: Opened) -> None:
    bench = opened()
    fill(bench, 2)

    async def flush_twice() -> None:
        await begin_flush(bench)
        await bench.log.flush()
        bench.gate.dead = True

    bench.run(flush_twice())
    lose_everything_unsynced(bench)

    assert bench.open().log_end_offset == 2


def test_a_flush_after_one_that_was_given_up_syncs_what_that_one_should_have(
    opened: Opened,
) -> None:
    bench = opened()
    fill(bench, 2)

    async def give_up_and_flush() -> None:
        (await begin_flush(bench)).cancel()
        await asyncio.sleep(0)
        await bench.log.flush()

    bench.run(give_up_and_flush())
    lose_everything_unsynced(bench)

    assert bench.open().log_end_offset == 2


def test_segments_may_be_deleted_while_they_are_flushed(opened: Opened) -> None:
    bench = opened(segment_bytes=2 * SIZE, retention_bytes=SIZE)
    fill(bench, 2)
    bench.gate.slow = "sync"
    fill(bench, 4)
    assert bench.gate.slow is None
    bench.log.high_watermark = 6

    assert bench.run(bench.log.delete_old_segments()) == 2
    bench.gate.go_on.set()
    bench.settle()

    fill(bench, 1)
    assert offsets(bench) == [4, 5, 6]


def test_a_sync_that_fails_is_told_though_the_log_is_cut_meanwhile(opened: Opened) -> None:
    bench = opened(segment_bytes=2 * SIZE)
    fill(bench, 5)
    bench.settle()

    async def cut_meanwhile() -> None:
        task = await begin_flush(bench)
        await bench.log.truncate_to(4)
        bench.sim.break_sync("t-0/", times=1)
        await end_flush(bench, task)

    with pytest.raises(KafkaError) as refused:
        bench.run(cut_meanwhile())
    assert refused.value.code is ErrorCode.kafka_storage_error


def test_a_segment_rolled_while_it_is_flushed_is_not_vouched_for_without_its_index(
    opened: Opened,
) -> None:
    bench = opened()
    fill(bench, 3)

    async def roll_meanwhile() -> None:
        task = await begin_flush(bench, slow="sync_directory")
        await bench.log.roll()
        bench.gate.slow = "sync"  # of the flush that follows a roll
        await end_flush(bench, task)

    bench.run(roll_meanwhile())
    written = bench.log.recovery_point
    lose_everything_unsynced(bench)
    bench.open(recovery_point=written)

    latest = bench.run(bench.log.offset_of_max_timestamp(upto=3))
    assert latest is not None
    assert (latest.timestamp, latest.offset) == (NOW + 2, 2)
