"""What is decided about offsets, and what a replay of their log comes to."""

from __future__ import annotations

from uuid import UUID

import pytest

from reference_impl.broker.offsets_api import unverified_commit
from reference_impl.coordinators.offset_records import NO_TOPIC_ID, OffsetKey, OffsetValue
from reference_impl.coordinators.offset_state import (
    Committer,
    Fetched,
    OffsetState,
    Stored,
    fetched,
    may_commit,
    metadata_fits,
    pending_offset_counts,
    same_topic,
    topic_is_gone,
)
from reference_impl.coordinators.offsets import not_loaded, takes_effect
from reference_impl.kafka.errors import ErrorCode

KEY = OffsetKey("g", "t", 0)
OTHER = OffsetKey("g", "t", 1)
ONE, TWO = UUID(int=1), UUID(int=2)
E = ErrorCode


@pytest.mark.parametrize(
    ("known", "generation", "transactional", "version", "error"),
    [
        (False, -1, False, 2, E.none),
        (True, -1, False, 9, E.none),
        (True, -1, True, 5, E.none),
        (False, 0, False, 8, E.illegal_generation),
        (False, 0, False, 9, E.group_id_not_found),
        (False, 0, True, 5, E.illegal_generation),
        (True, 0, False, 8, E.unknown_member_id),
        (True, 5, False, 10, E.unknown_member_id),
        (True, 0, True, 3, E.unknown_member_id),
    ],
)
def test_who_names_a_generation_is_no_member(
    known: bool, generation: int, transactional: bool, version: int, error: ErrorCode
) -> None:
    for member in ("", "member"):
        committer = Committer(generation, member)
        assert may_commit(known, committer, transactional, version) is error


@pytest.mark.parametrize(
    ("error", "version", "told"),
    [
        (E.producer_fenced, 5, E.invalid_producer_epoch),
        (E.transaction_abortable, 3, E.invalid_txn_state),
        (E.transaction_abortable, 4, E.transaction_abortable),
        (E.network_exception, 5, E.coordinator_load_in_progress),
        (E.concurrent_transactions, 5, E.concurrent_transactions),
        (E.not_leader_or_follower, 5, E.not_coordinator),
        (E.not_enough_replicas, 5, E.coordinator_not_available),
        (E.invalid_producer_id_mapping, 0, E.invalid_producer_id_mapping),
    ],
)
def test_a_commit_that_is_in_no_transaction_is_told_why(
    error: ErrorCode, version: int, told: ErrorCode
) -> None:
    assert unverified_commit(error, version) is told


@pytest.mark.parametrize(
    ("metadata", "fits"), [(None, True), ("", True), ("abc", True), ("abcd", False), ("🦀a", True)]
)
def test_metadata_is_measured_in_characters_of_java(metadata: str | None, fits: bool) -> None:
    assert metadata_fits(metadata, 3) is fits


@pytest.mark.parametrize(
    ("error", "so"),
    [
        (E.none, True),
        (E.not_enough_replicas_after_append, True),
        (E.not_leader_or_follower, False),
        (E.request_timed_out, False),
    ],
)
def test_a_change_is_so_once_it_is_committed(error: ErrorCode, so: bool) -> None:
    assert takes_effect(error) is so


@pytest.mark.parametrize(
    ("leads", "error"), [(True, E.coordinator_load_in_progress), (False, E.not_coordinator)]
)
def test_who_is_to_lead_asks_for_patience(leads: bool, error: ErrorCode) -> None:
    assert not_loaded(leads) is error


@pytest.mark.parametrize(("known", "counts"), [(None, True), (3, True), (5, False), (9, False)])
def test_the_later_record_counts(known: int | None, counts: bool) -> None:
    stored = None if known is None else Stored(known, OffsetValue(1))
    assert pending_offset_counts(stored, Stored(5, OffsetValue(2))) is counts


@pytest.mark.parametrize(
    ("stored", "asked", "same"),
    [(ONE, ONE, True), (ONE, TWO, False), (NO_TOPIC_ID, ONE, True), (ONE, NO_TOPIC_ID, True)],
)
def test_ids_are_compared_where_they_are_known(stored: UUID, asked: UUID, same: bool) -> None:
    assert same_topic(stored, asked) is same


@pytest.mark.parametrize(
    ("stored", "exists", "gone"),
    [(ONE, True, False), (ONE, False, True), (NO_TOPIC_ID, False, False)],
)
def test_an_offset_of_a_deleted_topic_is_gone(stored: UUID, exists: bool, gone: bool) -> None:
    assert topic_is_gone(stored, exists) is gone


@pytest.mark.parametrize(
    ("stored", "pending", "stable", "told"),
    [
        (None, False, False, Fetched()),
        (None, True, False, Fetched()),
        (None, True, True, Fetched(E.unstable_offset_commit)),
        (5, True, False, Fetched(value=OffsetValue(5))),
        (5, True, True, Fetched(E.unstable_offset_commit)),
        (5, False, True, Fetched(value=OffsetValue(5))),
    ],
)
def test_who_wants_stable_offsets_waits_for_transactions(
    stored: int | None, pending: bool, stable: bool, told: Fetched
) -> None:
    known = None if stored is None else Stored(0, OffsetValue(stored))
    assert fetched(known, pending, stable, NO_TOPIC_ID) == told


def replayed(*steps: tuple[int, int | None] | tuple[int, bool]) -> OffsetState:
    """Steps: a producer (-1: none) and an offset, None to delete, or True/False for a marker."""
    state = OffsetState()
    for at, (producer, said) in enumerate(steps):
        if isinstance(said, bool):
            state.replay_marker(producer, said)
        else:
            state.replay(at, producer, KEY, None if said is None else OffsetValue(said))
    return state


def offset(state: OffsetState) -> int | None:
    return state.committed[KEY].value.offset if KEY in state.committed else None


@pytest.mark.parametrize(
    ("steps", "found", "pending"),
    [
        ([(-1, 5)], 5, False),
        ([(-1, 5), (-1, None)], None, False),
        ([(9, 5)], None, True),
        ([(-1, 3), (9, 5)], 3, True),
        ([(9, 5), (9, True)], 5, False),
        ([(9, 5), (9, False)], None, False),
        ([(9, 5), (9, 6), (9, True)], 6, False),
        ([(9, 5), (8, 6), (9, True)], 5, True),
        ([(9, 5), (8, 6), (8, True), (9, True)], 6, False),
        ([(9, 5), (-1, 3), (9, True)], 3, False),
        ([(9, 5), (-1, None), (9, True)], None, False),
        ([(9, True)], None, False),
    ],
)
def test_a_replay_of_the_log_says_what_counts(
    steps: list[tuple[int, int | None]], found: int | None, pending: bool
) -> None:
    state = replayed(*steps)
    assert (offset(state), state.is_pending(KEY)) == (found, pending)


def test_only_what_is_there_needs_a_record_to_go() -> None:
    assert replayed((9, 5)).deletable([KEY, OTHER]) == [KEY]
    assert replayed((-1, 5)).deletable([OTHER, KEY]) == [KEY]


def test_a_group_is_known_from_its_first_commit_on() -> None:
    assert not OffsetState().knows("g")
    assert replayed((9, 5), (9, False)).knows("g")
    assert replayed((-1, 5)).of_group("g") == [KEY]
    assert replayed((-1, 5)).of_group("h") == []
