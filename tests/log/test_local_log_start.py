"""Where a log begins, and where it begins on this disk: two offsets if older ones lie elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from log_bench import Bench, Killed, Producer

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log import LogConfig
from reference_impl.log.decisions import (
    EpochEntry,
    local_log_start,
    local_segment_may_go,
    recovered_epochs_end,
    recovered_log_start,
)
from reference_impl.log.log import OffsetNotLocal

SIZE = len(Producer(1).next(b"a"))


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Records 0 to 6 of epochs 1, from 3 on 2; two to a segment; all committed."""
    with contextlib.closing(elsewhere(seed=0)) as made:
        yield made


def elsewhere(seed: int, **config: int) -> Bench:
    made = Bench(LogConfig(segment_bytes=2 * SIZE, **config), seed=seed)
    made.open(older_elsewhere=True)
    producer = Producer(1)
    for number in range(7):
        made.append(producer.next(b"a"), epoch=1 if number < 3 else 2)
    made.log.high_watermark = 7
    made.run(made.log.flush())
    return made


def starts(bench: Bench) -> tuple[int, int, int]:
    log = bench.log
    return log.log_start_offset, log.local_log_start_offset, log.log_end_offset


def reopened(bench: Bench, log_start: int = 0, recovery_point: int = 7) -> tuple[int, int, int]:
    bench.die(power=True)
    bench.open(log_start_offset=log_start, recovery_point=recovery_point, older_elsewhere=True)
    return starts(bench)


# Segments that are kept elsewhere.


@pytest.mark.parametrize(
    ("upto", "local"), [(1, 0), (2, 2), (3, 2), (4, 4), (6, 6), (7, 6), (99, 6)]
)
def test_whole_local_segments_go_up_to_the_offset_and_never_the_active_one(
    bench: Bench, upto: int, local: int
) -> None:
    bench.run(bench.log.delete_local_segments(upto))

    assert starts(bench) == (0, local, 7)


def test_what_is_not_committed_stays_on_this_disk(bench: Bench) -> None:
    bench.die()
    bench.open(older_elsewhere=True).high_watermark = 3

    assert bench.run(bench.log.delete_local_segments(7)) == 1
    assert starts(bench) == (0, 2, 7)


def test_a_classic_log_has_no_segments_elsewhere() -> None:
    with contextlib.closing(Bench()) as bench:
        bench.open()
        with pytest.raises(ValueError, match="kept elsewhere"):
            bench.run(bench.log.delete_local_segments(0))


def test_epochs_and_producers_outlive_local_segments(bench: Bench) -> None:
    bench.run(bench.log.delete_local_segments(6))

    assert reopened(bench) == (0, 6, 7)
    assert bench.log.epochs.entries == (EpochEntry(1, 0), EpochEntry(2, 3))
    assert bench.log.producers.producers[1].last_sequence == 6


@pytest.mark.parametrize("power", [False, True])
@pytest.mark.parametrize("after", [False, True])
def test_a_crash_while_local_segments_go_moves_only_the_local_start(
    power: bool, after: bool
) -> None:
    for fatal in range(1, 40):
        with contextlib.closing(elsewhere(seed=fatal)) as bench:
            bench.gate.fatal, bench.gate.after = bench.gate.count + fatal, after
            with contextlib.suppress(Killed):
                bench.run(bench.log.delete_local_segments(6))
            done = not bench.gate.dead
            bench.die(power=power)
            log = bench.open(older_elsewhere=True, recovery_point=7)
            assert (log.log_start_offset, log.log_end_offset) == (0, 7)
            assert log.local_log_start_offset in ((6,) if done and not power else (0, 2, 4, 6))
            assert log.epochs.epoch_for(0) == 1
            assert log.producers.producers[1].last_sequence == 6
        if done:
            return
    pytest.fail("it never ended")


def test_producers_of_what_is_elsewhere_survive_a_loss_of_power_before_a_flush() -> None:
    with contextlib.closing(Bench(LogConfig(segment_bytes=2 * SIZE))) as bench:
        bench.open(older_elsewhere=True)

        async def fill_and_die() -> None:
            for number in range(7):
                data = Producer(2 if number == 0 else 1, sequence=number).next(b"a")
                await bench.log.append_as_leader(data, leader_epoch=1)
            bench.gate.dead = True

        bench.run(fill_and_die())
        bench.die()
        bench.open(older_elsewhere=True).high_watermark = 7
        bench.run(bench.log.delete_local_segments(6))
        bench.append(Producer(1, sequence=7).next(b"a"), epoch=1)
        bench.run(bench.log.flush())
        bench.die()
        bench.sim.lose_power(lose="all")

        log = bench.open(older_elsewhere=True, recovery_point=8)

        assert log.local_log_start_offset == 6
        assert log.producers.producers[2].last_sequence == 0


def test_a_segment_stays_if_no_snapshot_tells_its_producers(bench: Bench) -> None:
    bench.die()
    bench.run(bench.sim.remove("t-0/00000000000000000004.snapshot"))
    bench.open(older_elsewhere=True).high_watermark = 7

    assert bench.run(bench.log.delete_local_segments(5)) == 1
    assert starts(bench) == (0, 2, 7)
    assert bench.run(bench.log.delete_local_segments(6)) == 2


def test_age_and_size_are_not_this_logs_concern() -> None:
    with contextlib.closing(elsewhere(0, retention_ms=1, retention_bytes=1)) as bench:
        bench.clock.now += 1_000_000

        assert bench.run(bench.log.delete_old_segments()) == 0


@pytest.mark.parametrize(("start", "local"), [(1, 4), (5, 5), (6, 6)])
def test_a_log_start_that_rises_takes_the_local_start_along(
    bench: Bench, start: int, local: int
) -> None:
    bench.run(bench.log.delete_local_segments(4))
    bench.run(bench.log.advance_log_start_offset(start))
    bench.run(bench.log.delete_old_segments())

    assert starts(bench) == (start, local, 7)
    assert bench.log.epochs.entries[0].start_offset == start


def test_a_log_start_that_was_not_written_down_is_known_by_the_epochs(bench: Bench) -> None:
    bench.run(bench.log.delete_local_segments(6))
    bench.run(bench.log.advance_log_start_offset(2))

    assert reopened(bench, log_start=0) == (2, 6, 7)


# Cuts, reads.


def test_a_cut_below_the_local_start_restarts_the_log_there_and_cuts_its_epochs(
    bench: Bench,
) -> None:
    bench.run(bench.log.delete_local_segments(6))
    bench.run(bench.log.truncate_to(2))

    assert starts(bench) == (0, 2, 2)
    assert bench.log.epochs.entries == (EpochEntry(1, 0),)
    assert reopened(bench) == (0, 2, 2)
    assert bench.log.epochs.entries == (EpochEntry(1, 0),)


def test_a_cut_above_the_local_start_leaves_both_starts(bench: Bench) -> None:
    bench.run(bench.log.delete_local_segments(4))
    bench.run(bench.log.truncate_to(5))

    assert starts(bench) == (0, 4, 5)
    assert reopened(bench) == (0, 4, 5)


def test_what_is_below_the_local_start_is_not_read_here(bench: Bench) -> None:
    bench.run(bench.log.delete_local_segments(4))
    bench.run(bench.log.advance_log_start_offset(2))
    said = {}
    for offset in (1, 2, 3, 4):
        try:
            said[offset] = bool(bench.read(offset))
        except OffsetNotLocal:
            said[offset] = "elsewhere"
        except KafkaError as error:
            said[offset] = error.code

    out = ErrorCode.offset_out_of_range
    assert said == {1: out, 2: "elsewhere", 3: "elsewhere", 4: True}


def test_what_is_elsewhere_was_committed(bench: Bench) -> None:
    bench.run(bench.log.delete_local_segments(6))
    bench.log.high_watermark = 0

    assert bench.log.high_watermark == 6


# The choices.


@pytest.mark.parametrize(("log_start", "first", "local"), [(0, 4, 4), (4, 4, 4), (5, 4, 5)])
def test_a_log_is_local_from_its_first_segment_or_its_start_on(
    log_start: int, first: int, local: int
) -> None:
    assert local_log_start(log_start, first) == local


@pytest.mark.parametrize(
    ("next_base", "upto", "goes"), [(None, 9, False), (5, 4, False), (5, 5, True), (5, 6, True)]
)
def test_a_segment_that_ends_at_the_offset_may_go(
    next_base: int | None, upto: int, goes: bool
) -> None:
    assert local_segment_may_go(next_base, upto) is goes


@pytest.mark.parametrize(
    ("written", "base", "epoch", "is_elsewhere", "start"),
    [
        (0, 4, 0, False, 4),
        (6, 4, 0, False, 6),
        (0, 4, 0, True, 0),
        (0, 4, 2, True, 2),
        (3, 4, 2, True, 3),
        (6, 4, 2, True, 6),
        (0, 4, None, True, 4),
        (6, 4, None, True, 6),
    ],
)
def test_a_log_that_is_opened_begins_where_it_is_known_to(
    written: int, base: int, epoch: int | None, is_elsewhere: bool, start: int
) -> None:
    assert recovered_log_start(written, base, epoch, is_elsewhere) == start


@pytest.mark.parametrize(
    ("empty", "is_elsewhere", "end"),
    [(False, False, 7), (False, True, 7), (True, False, 7), (True, True, 8)],
)
def test_an_epoch_without_records_is_kept_where_a_log_was_begun_in_it(
    empty: bool, is_elsewhere: bool, end: int
) -> None:
    assert recovered_epochs_end(7, empty, is_elsewhere) == end
