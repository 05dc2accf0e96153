from __future__ import annotations

import pytest

from spark_checkers.linearizability.boundary_answers import Call, Log, answers

A = ((7001, 0, 0, 4, 10, 1_000),)
B = ((7001, 0, 0, 5, 10, 1_000),)
INIT, SET = "initialize_diskless_migration", "set_diskless_log_start_offset"


def log(
    boundary: int = -1,
    epoch: int = -1,
    reset_epoch: int = -1,
    seeds: tuple[tuple[int, ...], ...] = (),
    batches: int = 0,
) -> Log:
    end = -1 if boundary == -1 else boundary + batches
    return Log(True, boundary, epoch, reset_epoch, seeds, end)


def init(boundary: int, epoch: int, entries: tuple[tuple[int, ...], ...] = A) -> tuple[str, Call]:
    return INIT, Call(boundary=boundary, leader_epoch=epoch, entries=entries)


def put(boundary: int, epoch: int | None = None) -> tuple[str, Call]:
    return SET, Call(boundary=boundary, leader_epoch=epoch)


def seed(entries: tuple[tuple[int, ...], ...]) -> tuple[str, Call]:
    return "seed_producer_state", Call(entries=entries)


def register(epoch: int) -> tuple[str, Call]:
    return "register_leader_epoch", Call(leader_epoch=epoch)


def commit(records: int) -> tuple[str, Call]:
    return "commit_batch", Call(record_count=records)


SAME = None
SIX = tuple((7001, 0, n, n, n, 1_000) for n in range(6))
STORED = log(100, 5, -1, A)

TABLE = [
    # what is stored, the call, the answer, what is stored after it (SAME: nothing changed)
    (log(), init(100, 5), "NONE", STORED),
    (log(seeds=B), init(100, 5), "NONE", STORED),
    (log(epoch=5), init(100, 5), "NONE", STORED),
    (log(epoch=6), init(100, 5), "FENCED_LEADER_EPOCH", SAME),
    (log(epoch=5, reset_epoch=5), init(100, 5), "FENCED_LEADER_EPOCH", SAME),
    (log(epoch=5, reset_epoch=5), init(100, 6), "NONE", log(100, 6, 5, A)),
    (log(epoch=7, reset_epoch=5), init(100, 6), "FENCED_LEADER_EPOCH", SAME),
    (log(epoch=7, reset_epoch=5), init(100, 7), "NONE", log(100, 7, 5, A)),
    (STORED, init(100, 4), "FENCED_LEADER_EPOCH", SAME),
    (STORED, init(200, 4), "FENCED_LEADER_EPOCH", SAME),
    (STORED, init(100, 5), "NONE", SAME),
    (STORED, init(100, 6), "NONE", log(100, 6, -1, A)),
    (STORED, init(200, 6), "BOUNDARY_MISMATCH", SAME),
    (STORED, init(100, 6, B), "PRODUCER_STATE_MISMATCH", SAME),
    (STORED, init(200, 6, B), "BOUNDARY_MISMATCH", SAME),
    (log(), init(0, 0, ()), "NONE", log(0, 0)),
    (log(), init(10, 0, A), "INVALID_REQUEST", SAME),
    (log(), init(-1, 5, ()), "INVALID_REQUEST", SAME),
    (log(), init(100, -1, ()), "INVALID_REQUEST", SAME),
    (log(), init(100, 5, SIX), "INVALID_REQUEST", SAME),
    (log(), put(-1), "NONE", SAME),
    (log(epoch=5), put(-1, 7), "NONE", SAME),
    (log(epoch=5), put(-1, 4), "FENCED_LEADER_EPOCH", SAME),
    (STORED, put(-1, 4), "FENCED_LEADER_EPOCH", SAME),
    (STORED, put(-1), "NONE", log(-1, 5, 5)),
    (STORED, put(-1, 7), "NONE", log(-1, 7, 7)),
    (log(100, 5, -1, A, 1), put(-1), "SUFFIX_NOT_EMPTY", SAME),
    (log(100, 5, -1, A, 1), put(-1, 7), "SUFFIX_NOT_EMPTY", SAME),
    (STORED, put(100), "NONE", SAME),
    (STORED, put(100, 4), "FENCED_LEADER_EPOCH", SAME),
    (STORED, put(100, 6), "NONE", log(100, 6, -1, A)),
    (STORED, put(200), "BOUNDARY_MISMATCH", SAME),
    (STORED, put(200, 6), "BOUNDARY_MISMATCH", SAME),
    (log(seeds=A), put(100, 5), "NONE", STORED),
    (log(epoch=6), put(100, 5), "FENCED_LEADER_EPOCH", SAME),
    (log(epoch=5, reset_epoch=5), put(100, 5), "FENCED_LEADER_EPOCH", SAME),
    (log(), put(100), "NONE", log(100)),
    (log(epoch=5), put(100), "FENCED_LEADER_EPOCH", SAME),
    (log(epoch=5, reset_epoch=5), put(100), "FENCED_LEADER_EPOCH", SAME),
    (log(), put(-2), "INVALID_REQUEST", SAME),
    (log(seeds=A), seed(B), "NONE", log(seeds=B)),
    (STORED, seed(A), "NONE", SAME),
    (STORED, seed(B), "PRODUCER_STATE_MISMATCH", SAME),
    (log(), seed(SIX), "INVALID_REQUEST", SAME),
    (log(epoch=5), register(4), "FENCED_LEADER_EPOCH", SAME),
    (log(epoch=5), register(5), "NONE", SAME),
    (STORED, register(6), "NONE", log(100, 6, -1, A)),
    (log(epoch=5), commit(1), "BOUNDARY_UNSET", SAME),
    (STORED, commit(3), "NONE", log(100, 5, -1, A, 3)),
    (STORED, commit(0), "INVALID_REQUEST", SAME),
    (STORED, ("create_log", Call()), "NONE", SAME),
    (STORED, ("describe_producers", Call()), "NONE", SAME),
    (Log(), ("create_log", Call()), "NONE", log()),
    (Log(), ("get_diskless_log_start_offset", Call()), "UNKNOWN_TOPIC_OR_PARTITION", SAME),
    (Log(), init(100, 5), "UNKNOWN_TOPIC_OR_PARTITION", SAME),
]


@pytest.mark.parametrize(("stored", "call", "error", "after"), TABLE)
def test_the_strict_reading_knows_one_answer(
    stored: Log, call: tuple[str, Call], error: str, after: Log | None
) -> None:
    (answer,) = answers(stored, *call, tolerant=False)
    assert (answer.error, answer.after) == (error, stored if after is SAME else after)


@pytest.mark.parametrize(("stored", "call", "error", "after"), TABLE)
def test_the_tolerant_reading_grants_every_strict_answer(
    stored: Log, call: tuple[str, Call], error: str, after: Log | None
) -> None:
    legal = {(a.error, a.after) for a in answers(stored, *call, tolerant=True)}
    expected = stored if after is SAME else after
    assert (error, expected) in legal or ("any code", expected) in legal


GRANTED = [
    (log(epoch=5), put(100), {("NONE", log(100, 5)), ("FENCED_LEADER_EPOCH", log(epoch=5))}),
    (
        log(epoch=7, reset_epoch=5),
        put(100),
        {
            ("NONE", log(100, 7, 5)),
            ("FENCED_LEADER_EPOCH", log(epoch=7, reset_epoch=5)),
        },
    ),
    (
        log(epoch=5, reset_epoch=5),
        put(100),
        {("FENCED_LEADER_EPOCH", log(epoch=5, reset_epoch=5))},
    ),
    (
        log(epoch=7, reset_epoch=5),
        init(100, 7),
        {("NONE", log(100, 7, 5, A)), ("FENCED_LEADER_EPOCH", log(epoch=7, reset_epoch=5))},
    ),
    (STORED, init(100, 6), {("NONE", log(100, 6, -1, A)), ("NONE", STORED)}),
    (STORED, put(100, 6), {("NONE", log(100, 6, -1, A)), ("NONE", STORED)}),
    (STORED, init(200, 6), {("any code", STORED)}),
    (
        STORED,
        init(100, 4, B),
        {("FENCED_LEADER_EPOCH", STORED), ("PRODUCER_STATE_MISMATCH", STORED)},
    ),
    (STORED, put(-1), {("NONE", log(-1, 5, 5, A)), ("NONE", log(-1, 5, 5))}),
    (log(100, 5, -1, A, 1), put(-1), {("SUFFIX_NOT_EMPTY", log(100, 5, -1, A, 1))}),
]


@pytest.mark.parametrize(("stored", "call", "legal"), GRANTED)
def test_the_tolerant_reading_grants_what_a_test_accepts_and_no_more(
    stored: Log, call: tuple[str, Call], legal: set[tuple[str, Log]]
) -> None:
    assert {(a.error, a.after) for a in answers(stored, *call, tolerant=True)} == legal


def test_the_first_batch_starts_at_the_boundary_and_the_next_where_it_ended() -> None:
    (first,) = answers(STORED, *commit(3), tolerant=False)
    (second,) = answers(first.after, *commit(2), tolerant=False)
    assert (first.base_offset, second.base_offset) == (100, 103)


def test_a_boundary_written_after_a_reset_starts_an_empty_suffix() -> None:
    (reset,) = answers(STORED, *put(-1), tolerant=False)
    (again,) = answers(reset.after, *init(300, 6, ()), tolerant=False)
    (batch,) = answers(again.after, *commit(1), tolerant=False)
    assert batch.base_offset == 300


SILENT = [
    (Log(), init(-1, 5), {"INVALID_REQUEST", "UNKNOWN_TOPIC_OR_PARTITION"}),
    (STORED, put(200, 4), {"BOUNDARY_MISMATCH", "FENCED_LEADER_EPOCH"}),
    (STORED, put(100, -1), {"INVALID_REQUEST", "NONE"}),
    (log(), ("seed_producer_state", Call()), {"INVALID_REQUEST", "NONE"}),
    (log(), seed(((-1, 0, 0, 4, 10, 1_000),)), {"INVALID_REQUEST", "NONE"}),
    (log(), ("create_log", Call(boundary=3)), {"INVALID_REQUEST", "NONE"}),
]


@pytest.mark.parametrize(("stored", "call", "errors"), SILENT)
def test_where_the_readings_are_silent_both_answers_are_legal(
    stored: Log, call: tuple[str, Call], errors: set[str]
) -> None:
    assert {a.error for a in answers(stored, *call, tolerant=False)} == errors
