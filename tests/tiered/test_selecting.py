"""Which batches of a remote segment a reader is given, choice by choice."""

from __future__ import annotations

import pytest

from reference_impl.kafka.batches import header
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.transactions import (
    AbortedTransaction,
    aborted_within,
    no_later_abort_matters,
)
from reference_impl.tiered.remote_indexes import (
    batch_follows,
    index_within_segment,
)
from reference_impl.tiered.selecting import (
    Begins,
    Damaged,
    InTransactions,
    More,
    Selected,
    Wanted,
    aborted_of,
    batch_of_lineage,
    epoch_at,
    in_transactions,
    remote_batch_fits,
    remote_batch_readable,
    remote_read_backoff_ms,
    select,
)
from tests.tiered.remote_segments import batch

LINEAGE = (EpochEntry(0, 2), EpochEntry(3, 5), EpochEntry(4, 9))


@pytest.mark.parametrize(
    ("offset", "epoch"), [(1, -1), (2, 0), (4, 0), (5, 3), (8, 3), (9, 4), (100, 4)]
)
def test_the_epoch_of_an_offset_is_the_last_that_begins_there_or_before(
    offset: int, epoch: int
) -> None:
    assert epoch_at(LINEAGE, offset) == epoch


@pytest.mark.parametrize(
    ("base", "last", "expected", "end", "follows"),
    [
        (5, 5, 5, 9, True),
        (5, 9, 5, 9, True),
        (5, 10, 5, 9, False),
        (5, 4, 5, 9, False),
        (6, 7, 5, 9, False),
        (4, 7, 5, 9, False),
    ],
)
def test_a_batch_begins_where_the_one_before_it_ended_and_ends_within_the_segment(
    base: int, last: int, expected: int, end: int, follows: bool
) -> None:
    assert batch_follows(base, last, expected, end) is follows


@pytest.mark.parametrize(
    ("first", "last", "within"), [(3, 9, True), (4, 8, True), (2, 9, False), (3, 10, False)]
)
def test_an_index_has_no_offset_outside_its_segment(first: int, last: int, within: bool) -> None:
    assert index_within_segment(first, last, 3, 9) is within


@pytest.mark.parametrize(("ours", "theirs", "same"), [(3, 3, True), (3, 4, False), (4, 3, False)])
def test_a_batch_of_the_lineage_has_the_epoch_of_the_cache(
    ours: int, theirs: int, same: bool
) -> None:
    assert batch_of_lineage(theirs, ours) is same


@pytest.mark.parametrize(("last", "upto", "readable"), [(4, 5, True), (5, 5, False), (6, 5, False)])
def test_a_batch_is_read_if_it_ends_below_what_the_reader_may_see(
    last: int, upto: int, readable: bool
) -> None:
    assert remote_batch_readable(last, upto) is readable


@pytest.mark.parametrize(
    ("taken", "size", "most", "must", "fits"),
    [
        (0, 10, 10, False, True),
        (0, 11, 10, False, False),
        (0, 11, 10, True, True),
        (5, 5, 10, False, True),
        (5, 6, 10, True, False),
        (1, 10, 10, True, False),
    ],
)
def test_the_first_batch_may_be_larger_than_what_is_left_if_there_must_be_one(
    taken: int, size: int, most: int, must: bool, fits: bool
) -> None:
    assert remote_batch_fits(taken, size, most, must) is fits


@pytest.mark.parametrize(
    ("attempt", "jitter", "wait_ms"),
    [
        (0, 0.0, 50),
        (1, 0.0, 100),
        (4, 0.0, 800),
        (5, 0.0, 1000),
        (0, 0.2, 60),
        (0, -0.2, 40),
        (5, -0.5, 800),
        (10**9, 0.0, 1000),
    ],
)
def test_attempts_wait_twice_as_long_each_and_a_second_at_most(
    attempt: int, jitter: float, wait_ms: float
) -> None:
    assert remote_read_backoff_ms(attempt, jitter) == pytest.approx(wait_ms)


@pytest.mark.parametrize(
    ("first", "last", "within"),
    [(0, 4, False), (0, 5, True), (6, 7, True), (9, 12, True), (10, 12, False), (0, 99, True)],
)
def test_an_aborted_transaction_matters_if_it_has_records_among_those_read(
    first: int, last: int, within: bool
) -> None:
    assert aborted_within(AbortedTransaction(1, first, last, 0), 5, 10) is within


@pytest.mark.parametrize(("stable", "complete"), [(9, False), (10, True), (11, True)])
def test_nothing_more_is_to_be_told_once_all_that_was_read_had_been_decided(
    stable: int, complete: bool
) -> None:
    assert no_later_abort_matters(AbortedTransaction(1, 0, 0, stable), 10) is complete


def test_aborts_are_told_up_to_the_end_of_the_lineage_or_until_all_is_decided() -> None:
    entries = [AbortedTransaction(1, 0, 6, 0), AbortedTransaction(2, 3, 8, 4)]
    later = AbortedTransaction(3, 9, 12, 10)
    assert aborted_of([*entries, later], 5, 10, 20) == ((*entries, later), True)
    assert aborted_of([*entries, later], 5, 10, 11) == (tuple(entries), False)
    assert aborted_of([*entries, later], 7, 9, 20) == ((entries[1],), True)


def test_a_control_batch_ends_the_transaction_of_its_producer() -> None:
    def one(producer: int, *, control: bool = False) -> bytes:
        return batch(0, 0, producer_id=producer, transactional=True, control=control)

    def told(*written: bytes) -> InTransactions:
        return in_transactions([header(each) for each in written])

    assert told(batch(0, 0)) == InTransactions(any=False, open=False)
    assert told(one(7)) == InTransactions(any=True, open=True)
    assert told(one(7), one(7, control=True)) == InTransactions(any=True, open=False)
    assert told(one(7), one(8), one(7, control=True)) == InTransactions(any=True, open=True)
    assert told(one(7, control=True)) == InTransactions(any=True, open=False)


BATCHES = [batch(offset, 0) for offset in range(2, 6)]
SIZE = len(BATCHES[0])


def wanted(offset: int, **more: object) -> Wanted:
    plain = Wanted(offset, 6, 1 << 20, True, (EpochEntry(0, 0),), 5, Begins(base_offset=2))
    return plain._replace(**more)  # type: ignore[arg-type]


def test_selection_begins_with_the_batch_that_holds_the_offset() -> None:
    found = select(b"".join(BATCHES), wanted(3))
    assert isinstance(found, Selected)
    assert (found.start, found.end) == (SIZE, 4 * SIZE)
    assert [one.base_offset for one in found.batches] == [3, 4, 5]


@pytest.mark.parametrize("cut", [0, 5, 16, 17, SIZE - 1])
def test_a_first_batch_that_is_not_whole_is_asked_for_and_a_later_one_left_out(cut: int) -> None:
    data = b"".join(BATCHES[:2]) + BATCHES[2][:cut]
    size = SIZE if cut >= 17 else 61
    assert select(data, wanted(4)) == More(2 * SIZE, size, Begins(base_offset=4))
    later = select(data, wanted(3))
    assert isinstance(later, Selected)
    assert (later.start, later.end) == (SIZE, 2 * SIZE)


@pytest.mark.parametrize(
    "begins", [Begins(base_offset=1), Begins(last_offset=3), Begins(base_offset=3)]
)
def test_bytes_that_begin_with_another_batch_than_expected_are_damaged(begins: Begins) -> None:
    assert select(b"".join(BATCHES), wanted(3, begins=begins)) == Damaged(0)


def test_a_gap_is_damage() -> None:
    gap = b"".join([BATCHES[0], BATCHES[2], BATCHES[3]])
    assert select(gap, wanted(3)) == Damaged(SIZE)
    found = select(gap, wanted(2))
    assert isinstance(found, Selected)
    assert found.end == SIZE


def test_a_first_batch_behind_the_offset_is_damage() -> None:
    data = b"".join(BATCHES[1:])
    assert select(data, wanted(2, begins=Begins())) == Damaged(0)


def test_the_first_batch_of_another_epoch_ends_the_answer() -> None:
    parted = b"".join([*BATCHES[:2], batch(4, 7)])
    found = select(parted, wanted(2))
    assert isinstance(found, Selected)
    assert found.end == 2 * SIZE
    assert select(parted, wanted(4)) == Damaged(2 * SIZE)
