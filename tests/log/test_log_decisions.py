"""Every choice of a log, in a table."""

from __future__ import annotations

import pytest

from reference_impl.log.decisions import (
    AppendedBatch,
    EpochEntry,
    Roll,
    admit_checksum,
    admit_offsets,
    batches_remembered,
    bytes_to_read,
    end_offset_for_epoch,
    epochs_from,
    epochs_up_to,
    epochs_with,
    find_duplicate,
    last_stable_offset,
    log_start_may_be,
    may_be_as_late,
    next_log_start,
    offset_readable,
    producer_epoch_fits,
    producer_expired,
    read_begins_with,
    record_is_as_late,
    recovery_goes_on,
    segment_below_start,
    segment_exceeds_size,
    segment_expired,
    segment_may_go,
    segment_must_roll,
    segment_needs_recovery,
    sequence_fits,
    stamps_append_time,
)

MAX = (1 << 31) - 1
FIVE = [AppendedBatch(n * 10 + 9, 100 + n * 10 + 9, 9, 0) for n in range(5)]
WRAPPED = [AppendedBatch(4, 109, 9, 0)]  # sequence numbers 2^31-5 to 4


@pytest.mark.parametrize(
    ("batches", "known", "epoch", "first", "last", "found"),
    [
        (FIVE, 3, 3, 0, 9, 100),
        (FIVE, 3, 3, 40, 49, 140),
        (FIVE, 3, 3, 40, 48, None),  # not the same batch
        (FIVE, 3, 3, 41, 49, None),
        (FIVE, 3, 3, 50, 59, None),
        (FIVE, 3, 4, 40, 49, None),  # the producer has begun anew
        (FIVE, 3, 2, 40, 49, None),
        ([], -1, 0, 0, 0, None),
        (WRAPPED, 0, 0, MAX - 4, 4, 100),
    ],
)
def test_a_duplicate_has_the_epoch_and_both_ends_of_a_remembered_batch(
    batches: list[AppendedBatch], known: int, epoch: int, first: int, last: int, found: int | None
) -> None:
    duplicate = find_duplicate(batches, known, epoch, first, last)

    assert (None if duplicate is None else duplicate.first_offset) == found


@pytest.mark.parametrize(
    ("known", "epoch", "last", "first", "fits"),
    [
        (-1, 0, -1, 0, True),  # unknown producers begin anywhere
        (-1, 0, -1, 77, True),
        (0, 0, 9, 10, True),
        (0, 0, 9, 11, False),
        (0, 0, 9, 9, False),
        (0, 0, 9, 0, False),
        (0, 0, MAX, 0, True),  # wrapped around
        (0, 0, MAX, 1, False),
        (0, 0, MAX - 1, 0, False),
        (0, 1, 9, 0, True),  # a new epoch begins at 0
        (0, 1, 9, 10, False),
    ],
)
def test_a_sequence_goes_on_or_begins_anew(
    known: int, epoch: int, last: int, first: int, fits: bool
) -> None:
    assert sequence_fits(known, epoch, last, first) is fits


@pytest.mark.parametrize(
    ("known", "epoch", "fits"), [(-1, 0, True), (3, 3, True), (3, 4, True), (3, 2, False)]
)
def test_a_producer_with_an_older_epoch_is_fenced(known: int, epoch: int, fits: bool) -> None:
    assert producer_epoch_fits(known, epoch) is fits


def test_five_batches_are_remembered() -> None:
    assert batches_remembered() == 5


@pytest.mark.parametrize(("now", "expired"), [(149, False), (150, True), (151, True)])
def test_a_producer_is_forgotten_at_its_expiration(now: int, expired: bool) -> None:
    assert producer_expired(100, now, 50) is expired


E135 = [EpochEntry(1, 10), EpochEntry(3, 20), EpochEntry(5, 35)]


@pytest.mark.parametrize(
    ("entries", "epoch", "found"),
    [
        (E135, -1, (-1, -1)),
        (E135, 0, (0, 10)),  # older than all: itself, up to where they begin
        (E135, 1, (1, 20)),
        (E135, 2, (1, 20)),
        (E135, 3, (3, 35)),
        (E135, 4, (3, 35)),
        (E135, 5, (5, 50)),
        (E135, 6, (-1, -1)),  # newer than all: nothing is known
        ([], 0, (-1, -1)),
    ],
)
def test_an_epoch_ends_where_the_next_begins(
    entries: list[EpochEntry], epoch: int, found: tuple[int, int]
) -> None:
    assert end_offset_for_epoch(entries, epoch, 50) == found


@pytest.mark.parametrize(
    ("new", "result"),
    [
        ((6, 50), [(1, 10), (3, 20), (5, 35), (6, 50)]),
        ((5, 40), [(1, 10), (3, 20), (5, 35)]),  # begun already
        ((5, 30), [(1, 10), (3, 20), (5, 30)]),
        ((6, 35), [(1, 10), (3, 20), (6, 35)]),  # the one before wrote nothing
        ((6, 15), [(1, 10), (6, 15)]),
        ((2, 60), [(1, 10), (2, 60)]),  # never seen, and still one order
        ((9, 0), [(9, 0)]),
    ],
)
def test_a_new_epoch_leaves_only_what_is_older_and_begins_earlier(
    new: tuple[int, int], result: list[tuple[int, int]]
) -> None:
    assert list(epochs_with(E135, EpochEntry(*new))) == result


@pytest.mark.parametrize(
    ("end", "left"), [(50, 3), (36, 3), (35, 2), (21, 2), (20, 1), (10, 0), (0, 0)]
)
def test_epochs_that_begin_behind_the_cut_are_forgotten(end: int, left: int) -> None:
    assert list(epochs_up_to(E135, end)) == E135[:left]


@pytest.mark.parametrize(
    ("start", "result"),
    [
        (5, [(1, 10), (3, 20), (5, 35)]),
        (10, [(1, 10), (3, 20), (5, 35)]),
        (15, [(1, 15), (3, 20), (5, 35)]),
        (20, [(3, 20), (5, 35)]),
        (99, [(5, 99)]),
    ],
)
def test_the_epoch_in_which_the_log_begins_begins_with_it(
    start: int, result: list[tuple[int, int]]
) -> None:
    assert list(epochs_from(E135, start)) == result


FITS = Roll(
    size=500,
    batch_size=100,
    segment_bytes=600,
    waited_ms=10,
    segment_ms=10,
    index_full=False,
    relative_offset=MAX,
)


@pytest.mark.parametrize(
    ("change", "rolls"),
    [
        ({}, False),
        ({"size": 501}, True),
        ({"batch_size": 101}, True),
        ({"waited_ms": 11}, True),
        ({"waited_ms": 11, "size": 0}, False),  # an empty segment waits for ever
        ({"waited_ms": -5}, False),
        ({"index_full": True}, True),
        ({"relative_offset": MAX + 1}, True),
        ({"relative_offset": -1}, True),
    ],
)
def test_a_segment_rolls_when_one_limit_is_passed(change: dict[str, int], rolls: bool) -> None:
    assert segment_must_roll(FITS._replace(**change)) is rolls


@pytest.mark.parametrize(
    ("largest", "retention", "expired"),
    [(899, 100, True), (900, 100, False), (5000, 100, False), (0, -1, False), (999, 0, True)],
)
def test_a_segment_expires_when_its_last_record_is_too_old(
    largest: int, retention: int, expired: bool
) -> None:
    assert segment_expired(largest, 1000, retention) is expired


@pytest.mark.parametrize(
    ("size", "segment", "retention", "goes"),
    [(300, 100, 200, True), (300, 100, 201, False), (300, 100, -1, False), (100, 100, 0, True)],
)
def test_a_segment_goes_if_enough_is_left_without_it(
    size: int, segment: int, retention: int, goes: bool
) -> None:
    assert segment_exceeds_size(size, segment, retention) is goes


@pytest.mark.parametrize(
    ("after", "start", "goes"), [(10, 10, True), (10, 9, False), (10, 11, True), (None, 99, False)]
)
def test_a_segment_goes_if_the_log_begins_behind_it(
    after: int | None, start: int, goes: bool
) -> None:
    assert segment_below_start(after, start) is goes


@pytest.mark.parametrize(("end", "may"), [(9, True), (10, True), (11, False)])
def test_nothing_goes_that_is_not_committed(end: int, may: bool) -> None:
    assert segment_may_go(end, 10) is may
    assert log_start_may_be(end, 10) is may


@pytest.mark.parametrize(("offset", "readable"), [(4, False), (5, True), (9, True), (10, False)])
def test_the_offset_behind_the_end_can_be_read_from(offset: int, readable: bool) -> None:
    assert offset_readable(offset, 5, 9) is readable


@pytest.mark.parametrize(
    ("available", "max_bytes", "at_least_one", "count"),
    [
        (500, 250, True, 250),  # the third batch is cut
        (500, 900, True, 500),
        (500, 100, False, 100),
        (500, 99, True, 100),
        (500, 99, False, 0),
        (500, 0, True, 100),
        (0, 900, True, 0),
        (0, 0, True, 0),
    ],
)
def test_a_read_is_cut_where_asked_but_for_its_first_batch(
    available: int, max_bytes: int, at_least_one: bool, count: int
) -> None:
    assert bytes_to_read(100, available, max_bytes, at_least_one) == count


@pytest.mark.parametrize(
    ("clean", "after", "point", "needs"),
    [
        (True, None, 0, False),
        (False, None, 99, True),  # the active one always
        (False, 10, 10, False),
        (False, 10, 9, True),
    ],
)
def test_what_was_not_flushed_whole_is_read_again(
    clean: bool, after: int | None, point: int, needs: bool
) -> None:
    assert segment_needs_recovery(clean, after, point) is needs


@pytest.mark.parametrize(
    ("cut", "end", "after", "on"),
    [(0, 10, 10, True), (1, 10, 10, False), (0, 9, 10, False), (0, 11, 10, False)],
)
def test_recovery_stops_at_a_cut_a_gap_and_an_overlap(
    cut: int, end: int, after: int, on: bool
) -> None:
    assert recovery_goes_on(cut, end, after) is on


@pytest.mark.parametrize("intact", [True, False])
def test_a_batch_needs_its_own_checksum(intact: bool) -> None:
    assert admit_checksum(intact) is intact


@pytest.mark.parametrize(
    ("compressed", "out_of_place", "admitted"),
    [(False, False, True), (False, True, True), (True, False, True), (True, True, False)],
)
def test_only_what_stays_compressed_must_count_from_0(
    compressed: bool, out_of_place: bool, admitted: bool
) -> None:
    assert admit_offsets(compressed, out_of_place) is admitted


@pytest.mark.parametrize("configured", [True, False])
def test_the_topic_says_whose_time_counts(configured: bool) -> None:
    assert stamps_append_time(configured) is configured


@pytest.mark.parametrize(("asked", "start"), [(4, 5), (5, 5), (6, 6)])
def test_a_log_start_only_rises(asked: int, start: int) -> None:
    assert next_log_start(5, asked) == start


@pytest.mark.parametrize(("offset", "begins"), [(9, True), (10, True), (12, True), (13, False)])
def test_a_read_begins_with_the_batch_that_holds_its_offset(offset: int, begins: bool) -> None:
    assert read_begins_with(10, 12, offset) is begins


@pytest.mark.parametrize(("unstable", "stable"), [(None, 7), (6, 6), (7, 7), (8, 7)])
def test_nothing_is_stable_beyond_the_high_watermark(unstable: int | None, stable: int) -> None:
    assert last_stable_offset(unstable, 7, 9) == stable


@pytest.mark.parametrize(("asked", "late"), [(99, True), (100, True), (101, False)])
def test_as_late_means_not_earlier(asked: int, late: bool) -> None:
    assert may_be_as_late(100, asked) is late
    assert record_is_as_late(100, asked) is late
