"""The decisions about the boundary, cell by cell against tables written from the readings."""

from __future__ import annotations

import itertools

import pytest

from reference_impl.control_plane import boundary as decide
from reference_impl.control_plane.boundary import TRANSITIONS, Life, LogRow, life_of
from reference_impl.control_plane.flow import with_boundary, without_boundary
from reference_impl.ports.control_plane import BoundaryError, Seed

NONE = BoundaryError.NONE
WORDS = {
    "ok": NONE,
    "fenced": BoundaryError.FENCED_LEADER_EPOCH,
    "boundary": BoundaryError.BOUNDARY_MISMATCH,
    "seeds": BoundaryError.PRODUCER_STATE_MISMATCH,
    "suffix": BoundaryError.SUFFIX_NOT_EMPTY,
}

A = (Seed(1, 0, 0, 4, 10, 0),)
B = (Seed(2, 0, 0, 4, 10, 0),)

# Logs whose fence stands at epoch 5; "reset" was reset at 5, "reset earlier" at 3 and then fenced.
LOGS = {
    "fresh": LogRow(),
    "registered": LogRow(epoch=5),
    "set": LogRow(boundary=100, epoch=5, high_watermark=100),
    "set at zero": LogRow(boundary=0, epoch=5),
    "set unfenced": LogRow(boundary=100, high_watermark=100),
    "reset": LogRow(epoch=5, reset_epoch=5),
    "reset earlier": LogRow(epoch=5, reset_epoch=3),
}
EPOCHS = {"lower": 4, "equal": 5, "higher": 6, "none": None}


def cells(table: str) -> list[tuple[str, ...]]:
    rows = [line for line in table.strip().splitlines() if not line.strip().startswith("-")]
    return [tuple(cell.strip() for cell in row.split("|")) for row in rows[1:]]


# Columns three to six: same boundary and seeds, other seeds, other boundary, both other.
INITIALIZE = cells("""
    log           | epoch  | same   | seeds  | boundary | both
    --------------------------------------------------------------
    fresh         | lower  | ok     | ok     | ok       | ok
    fresh         | equal  | ok     | ok     | ok       | ok
    fresh         | higher | ok     | ok     | ok       | ok
    registered    | lower  | fenced | fenced | fenced   | fenced
    registered    | equal  | ok     | ok     | ok       | ok
    registered    | higher | ok     | ok     | ok       | ok
    set           | lower  | fenced | fenced | fenced   | fenced
    set           | equal  | ok     | seeds  | boundary | boundary
    set           | higher | ok     | seeds  | boundary | boundary
    set at zero   | lower  | fenced | fenced | fenced   | fenced
    set at zero   | equal  | ok     | ok     | boundary | boundary
    set at zero   | higher | ok     | ok     | boundary | boundary
    set unfenced  | lower  | ok     | seeds  | boundary | boundary
    set unfenced  | equal  | ok     | seeds  | boundary | boundary
    set unfenced  | higher | ok     | seeds  | boundary | boundary
    reset         | lower  | fenced | fenced | fenced   | fenced
    reset         | equal  | fenced | fenced | fenced   | fenced
    reset         | higher | ok     | ok     | ok       | ok
    reset earlier | lower  | fenced | fenced | fenced   | fenced
    reset earlier | equal  | ok     | ok     | ok       | ok
    reset earlier | higher | ok     | ok     | ok       | ok
""")


@pytest.mark.parametrize(("log", "epoch", "same", "seeds", "other", "both"), INITIALIZE)
def test_initialize_is_admitted_as_the_table_says(
    log: str, epoch: str, same: str, seeds: str, other: str, both: str
) -> None:
    row, leader_epoch = LOGS[log], EPOCHS[epoch]
    assert leader_epoch is not None
    # No seed fits below a boundary of 0, so there both columns about seeds bring none.
    stored, different = ((), ()) if row.boundary == 0 else (A, B)
    here = row.boundary if row.boundary != -1 else 100
    for boundary, entries, word in (
        (here, stored, same),
        (here, different, seeds),
        (here + 100, stored, other),
        (here + 100, different, both),
    ):
        verdict = decide.admit_initialize(row, stored, boundary, leader_epoch, entries)
        assert verdict is WORDS[word], (boundary, entries)


WRITE = cells("""
    log           | epoch  | same   | other
    ------------------------------------------
    fresh         | none   | ok     | ok
    fresh         | lower  | ok     | ok
    registered    | none   | fenced | fenced
    registered    | lower  | fenced | fenced
    registered    | equal  | ok     | ok
    registered    | higher | ok     | ok
    set           | none   | ok     | boundary
    set           | lower  | fenced | fenced
    set           | equal  | ok     | boundary
    set           | higher | ok     | boundary
    set at zero   | none   | ok     | boundary
    set at zero   | lower  | fenced | fenced
    set at zero   | equal  | ok     | boundary
    set at zero   | higher | ok     | boundary
    set unfenced  | none   | ok     | boundary
    set unfenced  | lower  | ok     | boundary
    reset         | none   | fenced | fenced
    reset         | lower  | fenced | fenced
    reset         | equal  | fenced | fenced
    reset         | higher | ok     | ok
    reset earlier | none   | fenced | fenced
    reset earlier | lower  | fenced | fenced
    reset earlier | equal  | ok     | ok
    reset earlier | higher | ok     | ok
""")


@pytest.mark.parametrize(("log", "epoch", "same", "other"), WRITE)
def test_a_write_is_admitted_as_the_table_says(log: str, epoch: str, same: str, other: str) -> None:
    row, leader_epoch = LOGS[log], EPOCHS[epoch]
    here = row.boundary if row.boundary != -1 else 100
    assert decide.admit_write(row, here, leader_epoch) is WORDS[same]
    assert decide.admit_write(row, here + 100, leader_epoch) is WORDS[other]


RESET = cells("""
    log           | epoch  | empty  | used
    ------------------------------------------
    fresh         | none   | ok     | ok
    fresh         | lower  | ok     | ok
    registered    | none   | ok     | ok
    registered    | lower  | fenced | fenced
    registered    | equal  | ok     | ok
    set           | none   | ok     | suffix
    set           | lower  | fenced | fenced
    set           | equal  | ok     | suffix
    set           | higher | ok     | suffix
    set at zero   | none   | ok     | suffix
    set at zero   | lower  | fenced | fenced
    set at zero   | higher | ok     | suffix
    reset         | none   | ok     | ok
    reset         | lower  | fenced | fenced
    reset         | equal  | ok     | ok
    reset         | higher | ok     | ok
""")


@pytest.mark.parametrize(("log", "epoch", "empty", "used"), RESET)
def test_a_reset_is_admitted_as_the_table_says(log: str, epoch: str, empty: str, used: str) -> None:
    row, leader_epoch = LOGS[log], EPOCHS[epoch]
    assert decide.admit_reset(row, True, leader_epoch) is WORDS[empty]
    assert decide.admit_reset(row, False, leader_epoch) is WORDS[used]


@pytest.mark.parametrize("name", LOGS)
def test_seeding_is_free_until_the_boundary_is_set(name: str) -> None:
    row = LOGS[name]
    assert decide.admit_seeding(row, A, A) is NONE
    refused = BoundaryError.PRODUCER_STATE_MISMATCH if "set" in name.split() else NONE
    assert decide.admit_seeding(row, A, B) is refused


@pytest.mark.parametrize("name", LOGS)
def test_a_commit_needs_a_boundary(name: str) -> None:
    expected = NONE if "set" in name.split() else BoundaryError.BOUNDARY_UNSET
    assert decide.admit_commit(LOGS[name]) is expected


def batches(count: int, producer_id: int = 1) -> tuple[Seed, ...]:
    return tuple(Seed(producer_id, 0, n, n, n, 0) for n in range(count))


def test_five_batches_a_producer_are_admitted() -> None:
    assert decide.admit_seed_depth(batches(5) + batches(5, producer_id=2)) is NONE


def test_a_sixth_batch_of_one_producer_is_refused() -> None:
    assert decide.admit_seed_depth(batches(6)) is BoundaryError.INVALID_REQUEST


def test_a_seed_lies_below_the_boundary() -> None:
    assert decide.admit_seed_offsets(11, A) is NONE
    assert decide.admit_seed_offsets(10, A) is BoundaryError.INVALID_REQUEST


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("leader_epoch", EPOCHS.values())
def test_the_fence_never_falls(name: str, leader_epoch: int | None) -> None:
    row = LOGS[name]
    expected = max(row.epoch, -1 if leader_epoch is None else leader_epoch)
    assert decide.next_epoch(row, leader_epoch) == expected
    assert decide.epoch_after_reset(row, leader_epoch) == expected
    assert decide.reset_epoch_after(row, leader_epoch) == max(expected, 0)


def test_new_seeds_replace_old_ones_whole() -> None:
    assert decide.seeds_after(LogRow(), A, B) == B


def test_the_suffix_starts_at_a_new_boundary() -> None:
    assert decide.high_watermark_at(LogRow(high_watermark=40), 100) == 100


def test_repeating_a_boundary_does_not_rewind_the_suffix() -> None:
    assert decide.high_watermark_at(LogRow(boundary=100, high_watermark=107), 100) == 107


def test_batches_follow_each_other_without_gap() -> None:
    assert decide.assign_offset(LogRow(boundary=100, high_watermark=107)) == 107
    assert decide.high_watermark_after(107, 3) == 110


@pytest.mark.parametrize("error", BoundaryError)
def test_a_reply_reports_the_stored_boundary(error: BoundaryError) -> None:
    assert decide.reported_boundary(LogRow(boundary=100), 200, error) == 100
    assert decide.reported_boundary(LogRow(), 200, error) == -1


def test_zero_is_a_boundary_and_minus_one_is_none() -> None:
    assert [decide.is_set(boundary) for boundary in (-1, 0, 1)] == [False, True, True]


def test_each_partition_has_a_register_of_its_own() -> None:
    places = [("a", 0), ("a", 1), ("b", 0)]
    assert [decide.log_key(*place) for place in places] == places


def test_initialize_is_one_transaction_that_seeds_first() -> None:
    assert decide.initialize_transactions() == (("seed", "persist"),)


@pytest.mark.parametrize(
    ("sqlstate", "error"),
    [
        (None, "REQUEST_TIMED_OUT"),  # connection refused, reset, no answer
        ("08006", "REQUEST_TIMED_OUT"),  # connection failure
        ("40001", "REQUEST_TIMED_OUT"),  # serialization failure
        ("40P01", "REQUEST_TIMED_OUT"),  # deadlock
        ("53100", "REQUEST_TIMED_OUT"),  # disk full
        ("53300", "REQUEST_TIMED_OUT"),  # too many connections
        ("57014", "REQUEST_TIMED_OUT"),  # statement timeout
        ("57P01", "REQUEST_TIMED_OUT"),  # server is shutting down
        ("55P03", "REQUEST_TIMED_OUT"),  # lock timeout
        ("55000", "KAFKA_STORAGE_ERROR"),  # its class is not transient
        ("22012", "KAFKA_STORAGE_ERROR"),
        ("23505", "KAFKA_STORAGE_ERROR"),
        ("42883", "KAFKA_STORAGE_ERROR"),  # undefined function
        ("XX000", "KAFKA_STORAGE_ERROR"),
    ],
)
def test_failures_are_transient_or_hard(sqlstate: str | None, error: str) -> None:
    assert decide.classify_failure(sqlstate) == error


def test_every_admitted_change_is_a_legal_transition() -> None:
    for row, leader_epoch in itertools.product(LOGS.values(), EPOCHS.values()):
        outcomes = []
        if decide.admit_write(row, 100, leader_epoch) is NONE:
            outcomes.append(with_boundary(row, 100, leader_epoch))
        if decide.is_set(row.boundary) and decide.admit_reset(row, True, leader_epoch) is NONE:
            outcomes.append(without_boundary(row, leader_epoch))
        for after in outcomes:
            legal = {life_of(row), *TRANSITIONS[life_of(row)]}
            assert life_of(after) in legal


def test_every_state_of_a_boundary_can_be_left() -> None:
    assert set(TRANSITIONS) == set(Life)
    assert all(TRANSITIONS.values())
