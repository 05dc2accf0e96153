"""Segments: when one begins, and when the oldest go."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from log_bench import NOW, Bench, batch

from reference_impl.kafka.errors import ErrorCode, KafkaError

Opened = Callable[..., Bench]
SIZE = len(batch(b"a"))


def bases(bench: Bench) -> list[int]:
    return [segment.base_offset for segment in bench.log.segments]


def fill(bench: Bench, count: int) -> None:
    for _ in range(count):
        bench.append(batch(b"a", timestamp=bench.clock.now))


def clean_up(bench: Bench) -> int:
    bench.log.high_watermark = bench.log.log_end_offset
    return bench.run(bench.log.delete_old_segments())


def test_a_segment_that_would_be_too_large_is_rolled(opened: Opened) -> None:
    bench = opened(segment_bytes=3 * SIZE)

    fill(bench, 7)

    assert bases(bench) == [0, 3, 6]


def test_a_segment_is_rolled_by_the_timestamps_of_its_records(opened: Opened) -> None:
    bench = opened(segment_ms=1000)
    for timestamp in (NOW, NOW + 1000, NOW + 1001, NOW + 5):
        bench.append(batch(b"a", timestamp=timestamp))

    assert bases(bench) == [0, 2]


def test_without_timestamps_the_clock_rolls_it(opened: Opened) -> None:
    bench = opened(segment_ms=1000)
    for step in (0, 1000, 1):
        bench.clock.now += step
        bench.append(batch(b"a", timestamp=-1))

    assert bases(bench) == [0, 2]


def test_a_full_index_rolls_the_segment(opened: Opened) -> None:
    bench = opened(index_interval_bytes=0, segment_index_bytes=48)
    for number in range(9):
        bench.append(batch(b"a", timestamp=NOW + number))

    # The first batch gets no entry; the time index has room for four and keeps one of them free.
    assert bases(bench) == [0, 4, 8]


def test_records_that_are_too_old_go_with_their_segment(opened: Opened) -> None:
    bench = opened(segment_bytes=2 * SIZE, retention_ms=1000)
    fill(bench, 2)
    bench.clock.now += 600
    fill(bench, 2)
    bench.clock.now += 401

    assert clean_up(bench) == 1
    assert bases(bench) == [2]
    assert bench.log.log_start_offset == 2


def test_the_active_segment_expires_too(opened: Opened) -> None:
    bench = opened(retention_ms=1000)
    fill(bench, 3)
    bench.clock.now += 1001

    assert clean_up(bench) == 1
    assert (bench.log.log_start_offset, bench.log.log_end_offset) == (3, 3)
    assert bench.append(batch(b"b")) == 3


def test_nothing_that_is_not_committed_goes(opened: Opened) -> None:
    bench = opened(segment_bytes=2 * SIZE, retention_ms=1000)
    fill(bench, 6)
    bench.clock.now += 5000
    bench.log.high_watermark = 3

    assert bench.run(bench.log.delete_old_segments()) == 1
    assert bases(bench) == [2, 4]


@pytest.mark.parametrize(
    ("retention", "left"),
    [(6 * SIZE, [0, 2, 4]), (5 * SIZE, [0, 2, 4]), (4 * SIZE, [2, 4]), (0, [6]), (-1, [0, 2, 4])],
)
def test_what_is_too_much_goes_from_the_oldest_on(
    opened: Opened, retention: int, left: list[int]
) -> None:
    bench = opened(segment_bytes=2 * SIZE, retention_bytes=retention)
    fill(bench, 6)

    clean_up(bench)

    assert bases(bench) == left


@pytest.mark.parametrize("policy", ["compact", "delete"])
def test_what_lies_before_the_log_start_goes_whatever_the_policy(
    opened: Opened, policy: str
) -> None:
    bench = opened(segment_bytes=2 * SIZE + 2, cleanup_policy=policy, retention_ms=-1)
    for _ in range(6):
        bench.append(batch(b"a", key=b"k"))
    bench.log.high_watermark = 6
    bench.run(bench.log.advance_log_start_offset(5))

    assert clean_up(bench) == 2
    assert bases(bench) == [4]


def test_a_compacted_log_keeps_old_records(opened: Opened) -> None:
    bench = opened(cleanup_policy="compact", retention_ms=1, segment_bytes=2 * SIZE)
    for _ in range(6):
        bench.append(batch(b"a", key=b"k"))
    bench.clock.now += 10_000

    assert clean_up(bench) == 0


def test_the_log_start_cannot_pass_the_high_watermark(opened: Opened) -> None:
    bench = opened()
    fill(bench, 4)
    bench.log.high_watermark = 2

    with pytest.raises(KafkaError) as refused:
        bench.run(bench.log.advance_log_start_offset(3))

    assert refused.value.code is ErrorCode.offset_out_of_range
    bench.run(bench.log.advance_log_start_offset(2))
    bench.run(bench.log.advance_log_start_offset(1))
    assert bench.log.log_start_offset == 2


def test_files_go_with_their_segment(opened: Opened) -> None:
    bench = opened(segment_bytes=2 * SIZE, retention_bytes=0)
    fill(bench, 6)
    clean_up(bench)
    bench.settle()

    names = [path.split("/")[1] for path in bench.sim.contents()]
    assert names == [
        "00000000000000000006.index",
        "00000000000000000006.log",
        "00000000000000000006.snapshot",
        "00000000000000000006.timeindex",
        "leader-epoch-checkpoint",
    ]


def test_a_log_that_starts_anew_is_empty_and_begins_where_told(opened: Opened) -> None:
    bench = opened(segment_bytes=2 * SIZE)
    fill(bench, 6)

    bench.run(bench.log.restart_at(100))

    log = bench.log
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (100, 100, 100)
    assert log.epochs.entries == ()
    assert bench.append(batch(b"a")) == 100


def test_a_deleted_log_leaves_nothing(opened: Opened) -> None:
    bench = opened(segment_bytes=2 * SIZE)
    fill(bench, 6)

    bench.run(bench.log.delete())

    assert bench.sim.contents() == {}


@pytest.mark.parametrize(("config", "flushed"), [({}, 0), ({"flush_messages": 3}, 3)])
def test_a_log_is_flushed_after_so_many_records(
    opened: Opened, config: dict[str, int], flushed: int
) -> None:
    bench = opened(**config)
    fill(bench, 5)

    assert bench.log.recovery_point == flushed


def test_a_log_is_flushed_after_so_long(opened: Opened) -> None:
    bench = opened(flush_ms=1000)
    fill(bench, 2)
    bench.clock.now += 999
    bench.run(bench.log.flush_if_due())
    assert bench.log.recovery_point == 0
    bench.clock.now += 1

    bench.run(bench.log.flush_if_due())

    assert bench.log.recovery_point == 2


def test_a_rolled_segment_is_flushed_without_being_asked(opened: Opened) -> None:
    bench = opened(segment_bytes=2 * SIZE)
    fill(bench, 5)

    bench.settle()

    assert bench.log.recovery_point == 4
