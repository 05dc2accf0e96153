"""Reading: where a read begins and ends, and what is found by timestamp."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from log_bench import Bench, batch

from reference_impl.kafka.batches import Compression, batches
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import build_batch
from reference_impl.log import TimestampOffset

Opened = Callable[..., Bench]


def three(opened: Opened, **config: int | str) -> Bench:
    """Offsets 0 to 5 in three batches of two."""
    bench = opened(**config)
    for _ in range(3):
        bench.append(batch(b"a", b"b"), epoch=4)
    return bench


SIZE = len(batch(b"a", b"b"))


@pytest.mark.parametrize(
    ("offset", "max_bytes", "upto", "first", "size"),
    [
        (0, 10_000, 6, 0, 3 * SIZE),
        (1, 10_000, 6, 0, 3 * SIZE),  # the batch that holds it, whole
        (3, 10_000, 6, 2, 2 * SIZE),
        (5, 10_000, 6, 4, SIZE),
        (0, 10_000, 4, 0, 2 * SIZE),
        (0, 10_000, 3, 0, SIZE),  # the bound lies in the second batch
        (2, 10_000, 3, 2, 0),
        (6, 10_000, 6, None, 0),
        (4, 10_000, 4, None, 0),
        (5, 10_000, 2, None, 0),
        (0, 2 * SIZE + 10, 6, 0, 2 * SIZE + 10),  # cut in the third
        (0, SIZE, 6, 0, SIZE),
        (0, 1, 6, 0, SIZE),
    ],
)
def test_a_read_begins_with_a_batch_and_ends_where_it_must(
    opened: Opened, offset: int, max_bytes: int, upto: int, first: int | None, size: int
) -> None:
    bench = three(opened)

    data = bench.run(bench.log.read(offset, max_bytes=max_bytes, upto=upto, at_least_one=True))

    assert len(data) == size
    if size:
        assert next(iter(batches(data)))[1].base_offset == first


def test_a_first_batch_that_is_too_large_is_left_out_if_none_is_needed(opened: Opened) -> None:
    assert three(opened).read(0, max_bytes=SIZE - 1, at_least_one=False) == b""


def test_a_read_stays_within_a_segment(opened: Opened) -> None:
    bench = three(opened, segment_bytes=2 * SIZE)

    assert [len(data) for data in bench.read_all()] == [2 * SIZE, SIZE]


@pytest.mark.parametrize("offset", [-1, 1, 7])
def test_an_offset_outside_the_log_is_refused(opened: Opened, offset: int) -> None:
    bench = three(opened)
    bench.log.high_watermark = 6
    bench.run(bench.log.advance_log_start_offset(2))

    with pytest.raises(KafkaError) as refused:
        bench.read(offset)

    assert refused.value.code is ErrorCode.offset_out_of_range


def test_every_offset_is_found_with_an_index_of_any_density(opened: Opened) -> None:
    for interval in (0, 100, 500, 1 << 20):
        bench = opened(index_interval_bytes=interval, segment_bytes=2000)
        for size in (1, 3, 2, 5, 1, 1, 4) * 8:
            bench.append(batch(*[b"v"] * size))
        for offset in range(bench.log.log_end_offset):
            found = next(iter(batches(bench.read(offset, max_bytes=1))))[1]
            assert found.base_offset <= offset <= found.last_offset


TIMES = [10, 30, 20, 50, 50, 40]


def timed(opened: Opened, codec: Compression, **config: int | str) -> Bench:
    """Six records in three batches; the middle batch alone has the latest twice."""
    bench = opened(index_interval_bytes=0, **config)
    for one, two in zip(TIMES[::2], TIMES[1::2], strict=True):
        bench.append(
            build_batch([(one, None, b"a"), (two, None, b"b")], compression=codec), epoch=4
        )
    return bench


@pytest.mark.parametrize("codec", [Compression.none, Compression.zstd])
@pytest.mark.parametrize("segment_bytes", [10_000, 2 * SIZE + 20, SIZE + 20])
@pytest.mark.parametrize(
    ("timestamp", "found"),
    [(0, 0), (10, 0), (11, 1), (30, 1), (31, 3), (50, 3), (51, None), (-1, 0)],
)
def test_the_first_record_as_late_is_found(
    opened: Opened, codec: Compression, segment_bytes: int, timestamp: int, found: int | None
) -> None:
    bench = timed(opened, codec, segment_bytes=segment_bytes)

    answer = bench.run(bench.log.offset_for_timestamp(timestamp, upto=6))

    if found is None:
        assert answer is None
    else:
        assert answer == TimestampOffset(timestamp=TIMES[found], offset=found, leader_epoch=4)


def test_a_record_that_may_not_be_seen_is_not_found(opened: Opened) -> None:
    bench = timed(opened, Compression.none)

    assert bench.run(bench.log.offset_for_timestamp(31, upto=3)) is None
    assert bench.run(bench.log.offset_of_max_timestamp(upto=3)) is None


def test_a_record_before_the_log_start_is_not_found(opened: Opened) -> None:
    bench = timed(opened, Compression.none)
    bench.log.high_watermark = 6
    bench.run(bench.log.advance_log_start_offset(2))

    answer = bench.run(bench.log.offset_for_timestamp(10, upto=6))

    assert answer == TimestampOffset(timestamp=20, offset=2, leader_epoch=4)


@pytest.mark.parametrize("codec", [Compression.none, Compression.gzip])
@pytest.mark.parametrize("segment_bytes", [10_000, SIZE + 20])
def test_the_first_of_the_latest_records_is_the_maximum(
    opened: Opened, codec: Compression, segment_bytes: int
) -> None:
    bench = timed(opened, codec, segment_bytes=segment_bytes)

    answer = bench.run(bench.log.offset_of_max_timestamp(upto=6))

    assert answer == TimestampOffset(timestamp=50, offset=3, leader_epoch=4)


def test_an_empty_log_has_no_maximum(opened: Opened) -> None:
    bench = opened()

    assert bench.run(bench.log.offset_of_max_timestamp(upto=0)) is None
    assert bench.run(bench.log.offset_for_timestamp(0, upto=0)) is None


def test_the_maximum_is_found_again_after_a_cut(opened: Opened) -> None:
    bench = timed(opened, Compression.none)

    bench.run(bench.log.truncate_to(2))

    answer = bench.run(bench.log.offset_of_max_timestamp(upto=2))
    assert answer == TimestampOffset(timestamp=30, offset=1, leader_epoch=4)


def test_high_watermark_and_last_stable_offset_stay_within_the_log(opened: Opened) -> None:
    bench = three(opened)
    log = bench.log

    for set_to, seen in ((99, 6), (4, 4), (-1, 0)):
        log.high_watermark = set_to
        assert (log.high_watermark, log.last_stable_offset) == (seen, seen)
