from __future__ import annotations

import random
from typing import Any

from boundary_histories import SEEDS, Row, recorded_rows, row
from brute_force import first_return_without_order, has_legal_order, states_before_return
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spark_checkers.linearizability import model_named, operations_of_rows, search, search_rows

INIT, SET = "initialize_diskless_migration", "set_diskless_log_start_offset"
GET, COMMIT = "get_diskless_log_start_offset", "commit_batch"
REGISTER, DESCRIBE = "register_leader_epoch", "describe_producers"
FENCED = "FENCED_LEADER_EPOCH"
CREATED = row(0, "create_log", (0, 1), (-1, -1, -1))


def initialized(op: int, span: tuple[int, int | None], boundary: int, epoch: int) -> Row:
    stored = None if span[1] is None else (boundary, epoch, -1)
    return row(op, INIT, span, stored, boundary=boundary, leader_epoch=epoch, entries=())


def judged(*rows: Row, model: str = "boundary") -> dict[str, Any]:
    (result,) = search_rows([CREATED, *rows], model=model)
    return result


def good(*rows: Row, model: str = "boundary") -> bool:
    return bool(judged(*rows, model=model)["verdict"] == "linearizable")


def bad(*rows: Row, op: int, model: str = "boundary") -> bool:
    result = judged(*rows, model=model)
    return bool(result["verdict"] == "not-linearizable" and result["op"] == op)


def test_a_read_must_not_answer_unset_after_the_boundary_was_set() -> None:
    assert bad(initialized(2, (2, 3), 100, 5), row(4, GET, (4, 5), (-1, -1, -1)), op=4)
    assert good(initialized(2, (2, 4), 100, 5), row(3, GET, (3, 5), (-1, -1, -1)))


def test_of_two_leaders_only_one_sets_the_boundary() -> None:
    assert bad(initialized(2, (2, 6), 100, 5), initialized(3, (3, 7), 200, 6), op=3)
    refused = {"boundary": 200, "leader_epoch": 6, "entries": ()}
    loser = row(3, INIT, (3, 7), (100, 5, -1), "BOUNDARY_MISMATCH", **refused)
    assert good(initialized(2, (2, 6), 100, 5), loser)


def test_a_stale_leader_is_fenced_even_with_the_same_boundary() -> None:
    first = initialized(2, (2, 3), 100, 5)
    same = {"boundary": 100, "leader_epoch": 4, "entries": ()}
    assert bad(first, row(4, INIT, (4, 5), (100, 5, -1), **same), op=4)
    assert good(first, row(4, INIT, (4, 5), (100, 5, -1), FENCED, **same))


def test_a_refusal_must_have_been_due_at_some_instant_of_the_call() -> None:
    late = initialized(4, (4, 6), 100, 5)
    asked = {"boundary": 100, "leader_epoch": 4, "entries": ()}
    assert bad(row(2, INIT, (2, 3), (-1, 5, -1), FENCED, **asked), late, op=2)
    assert good(row(2, INIT, (2, 5), (100, 5, -1), FENCED, **asked), late)


def test_a_refusal_that_reports_another_stored_state_is_flagged() -> None:
    first = initialized(2, (2, 3), 100, 5)
    asked = {"boundary": 200, "leader_epoch": 6, "entries": ()}
    assert bad(first, row(4, INIT, (4, 5), (200, 6, -1), "BOUNDARY_MISMATCH", **asked), op=4)
    assert good(first, row(4, INIT, (4, 5), (100, 5, -1), "BOUNDARY_MISMATCH", **asked))


def test_a_refused_call_leaves_no_trace() -> None:
    asked = {"boundary": 200, "leader_epoch": 6, "entries": ()}
    first = initialized(2, (2, 3), 100, 5)
    refused = row(4, INIT, (4, 5), (100, 5, -1), "BOUNDARY_MISMATCH", **asked)
    assert bad(first, refused, row(6, GET, (6, 7), (100, 6, -1)), op=6)
    assert good(first, refused, row(6, GET, (6, 7), (100, 5, -1)))


def test_after_a_reset_the_same_epoch_must_not_set_a_boundary_again() -> None:
    before = (
        initialized(2, (2, 3), 100, 5),
        row(4, SET, (4, 5), (-1, 5, 5), boundary=-1),
    )
    again = {"boundary": 300, "entries": ()}
    assert bad(*before, row(6, INIT, (6, 7), (300, 5, 5), leader_epoch=5, **again), op=6)
    assert good(*before, row(6, INIT, (6, 7), (300, 6, 5), leader_epoch=6, **again))


def test_a_boundary_with_a_committed_batch_must_not_be_reset() -> None:
    first = initialized(2, (2, 3), 100, 5)
    batch = row(4, COMMIT, (4, 5), (100, 5, -1), record_count=2, base_offset=100)
    assert bad(first, batch, row(6, SET, (6, 7), (-1, 5, 5), boundary=-1), op=6)
    assert good(first, batch, row(6, SET, (6, 7), (100, 5, -1), "SUFFIX_NOT_EMPTY", boundary=-1))


def test_a_reset_may_win_the_race_against_a_batch_of_unknown_outcome() -> None:
    first = initialized(2, (2, 3), 100, 5)
    batch = row(4, COMMIT, (4, None), record_count=2)
    assert good(first, batch, row(6, SET, (6, 7), (-1, 5, 5), boundary=-1))


def test_batches_start_at_the_boundary_and_leave_no_gap() -> None:
    first = initialized(2, (2, 3), 100, 5)

    def batch(op: int, base_offset: int) -> Row:
        stored = (100, 5, -1)
        return row(op, COMMIT, (op, op + 1), stored, record_count=2, base_offset=base_offset)

    assert bad(first, batch(4, 0), op=4)
    assert bad(first, batch(4, 100), batch(6, 103), op=6)
    assert good(first, batch(4, 100), batch(6, 102))


def test_no_batch_is_committed_before_there_is_a_boundary() -> None:
    early = row(2, COMMIT, (2, 3), (-1, -1, -1), record_count=1, base_offset=0)
    assert bad(early, op=2)
    assert good(row(2, COMMIT, (2, 3), (-1, -1, -1), "BOUNDARY_UNSET", record_count=1))


def test_a_boundary_is_never_seen_without_its_seeds() -> None:
    asked = {"boundary": 100, "leader_epoch": 5, "entries": SEEDS[0]}
    set_with_seeds = row(2, INIT, (2, 9), (100, 5, -1), **asked)
    assert bad(set_with_seeds, row(4, DESCRIBE, (4, 5), (100, 5, -1), seeds=()), op=4)
    assert good(set_with_seeds, row(4, DESCRIBE, (4, 5), (-1, -1, -1), seeds=()))
    assert good(set_with_seeds, row(4, DESCRIBE, (4, 5), (100, 5, -1), seeds=SEEDS[0]))


def test_a_registered_epoch_fences_a_deposed_leader_that_comes_first() -> None:
    newer = row(2, REGISTER, (2, 3), (-1, 6, -1), leader_epoch=6)
    assert bad(newer, initialized(4, (4, 5), 100, 5), op=4)
    assert good(newer, initialized(4, (4, 5), 100, 6))


def test_a_lost_initialization_may_show_up_later_or_never() -> None:
    lost = initialized(2, (2, None), 100, 5)
    unset, there = (-1, -1, -1), (100, 5, -1)
    assert good(lost, row(4, GET, (4, 5), unset), row(6, GET, (6, 7), unset))
    assert good(lost, row(4, GET, (4, 5), unset), row(6, GET, (6, 7), there))
    assert bad(lost, row(4, GET, (4, 5), there), row(6, GET, (6, 7), unset), op=6)


def test_a_log_that_was_not_created_is_unknown() -> None:
    unknown = "UNKNOWN_TOPIC_OR_PARTITION"
    (early,) = search_rows([row(0, GET, (0, 1), (-1, -1, -1), unknown)], model="boundary")
    assert early["verdict"] == "linearizable"
    assert bad(row(2, GET, (2, 3), (-1, -1, -1), unknown), op=2)


def test_a_write_without_epoch_past_a_fence_is_granted_only_to_foreign_systems() -> None:
    newer = row(2, REGISTER, (2, 3), (-1, 6, -1), leader_epoch=6)
    past = row(4, SET, (4, 5), (100, 6, -1), boundary=100)
    assert bad(newer, past, op=4)
    assert good(newer, past, model="boundary-tolerant")


def test_an_epoch_kept_by_an_identical_repeat_is_granted_only_to_foreign_systems() -> None:
    first = initialized(2, (2, 3), 100, 5)
    kept = row(4, INIT, (4, 5), (100, 5, -1), boundary=100, leader_epoch=7, entries=())
    assert bad(first, kept, op=4)
    assert good(first, kept, model="boundary-tolerant")


def test_an_answer_without_epochs_is_granted_only_to_foreign_systems() -> None:
    first = initialized(2, (2, 3), 100, 5)
    silent = row(4, GET, (4, 5), (100, None, None))
    assert bad(first, silent, op=4)
    assert good(first, silent, model="boundary-tolerant")


def test_a_foreign_system_must_still_keep_its_boundary() -> None:
    first = initialized(2, (2, 3), 100, 5)
    asked = {"boundary": 200, "leader_epoch": 6, "entries": ()}
    moved = row(4, INIT, (4, 5), (200, None, None), **asked)
    adopted = row(4, INIT, (4, 5), (100, None, None), **asked)
    assert bad(first, moved, op=4, model="boundary-tolerant")
    assert good(first, adopted, model="boundary-tolerant")


def test_a_foreign_system_may_answer_another_boundary_with_any_code() -> None:
    first = initialized(2, (2, 3), 100, 5)
    asked = {"boundary": 200, "leader_epoch": 6, "entries": ()}
    for code in ("NONE", FENCED, "INVALID_REQUEST", "UNKNOWN_TOPIC_OR_PARTITION"):
        answered = row(4, INIT, (4, 5), (100, 5, -1), code, **asked)
        assert good(first, answered, model="boundary-tolerant")


def test_a_foreign_system_may_keep_or_drop_its_seeds_when_the_boundary_is_reset() -> None:
    asked = {"boundary": 100, "leader_epoch": 5, "entries": SEEDS[0]}
    reset = (
        row(2, INIT, (2, 3), (100, 5, -1), **asked),
        row(4, SET, (4, 5), (-1, 5, 5), boundary=-1),
    )
    kept = row(6, DESCRIBE, (6, 7), (-1, 5, 5), seeds=SEEDS[0])
    dropped = row(6, DESCRIBE, (6, 7), (-1, 5, 5), seeds=())
    other = row(6, DESCRIBE, (6, 7), (-1, 5, 5), seeds=SEEDS[1])
    assert good(*reset, kept, model="boundary-tolerant")
    assert good(*reset, dropped, model="boundary-tolerant")
    assert bad(*reset, other, op=6, model="boundary-tolerant")
    assert good(*reset, dropped)
    assert bad(*reset, kept, op=6)


def test_the_explanation_tells_what_would_have_been_answered() -> None:
    result = judged(initialized(2, (2, 3), 100, 5), row(4, GET, (4, 5), (-1, -1, -1)))
    lines = result["explanation"].splitlines()
    assert lines[1] == (
        "  operation 4, process 4, from 4 to 5: get_diskless_log_start_offset() answered NONE "
        "boundary=-1 epoch=-1 reset_epoch=-1"
    )
    assert lines[3] == (
        "  the log stores boundary=100 epoch=5 reset_epoch=-1 seeds=[] suffix_end=100: "
        "it would answer NONE boundary=100 epoch=5 reset_epoch=-1"
    )


@settings(max_examples=settings().max_examples, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 60), st.integers(1, 6))
def test_what_a_lawful_control_plane_answers_is_linearizable_whatever_gets_lost(
    chance: random.Random, operations: int, clients: int
) -> None:
    rows = recorded_rows(chance, operations=operations, clients=clients, lost=0.1, tolerant=False)
    for model in ("boundary", "boundary-tolerant"):
        (result,) = search_rows(rows, model=model)
        assert result["verdict"] == "linearizable", result["explanation"]
        assert result["operations"] == sum(r["type"] != "info" for r in rows)


@settings(max_examples=100, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 40), st.integers(1, 5))
def test_what_a_lawful_foreign_control_plane_answers_is_tolerated(
    chance: random.Random, operations: int, clients: int
) -> None:
    rows = recorded_rows(chance, operations=operations, clients=clients, lost=0.1, tolerant=True)
    (result,) = search_rows(rows, model="boundary-tolerant")
    assert result["verdict"] == "linearizable", result["explanation"]


def spoilt(chance: random.Random, rows: list[Row]) -> list[Row]:
    """The same rows with one observation changed."""
    known = [place for place, r in enumerate(rows) if r["type"] != "info"]
    assume(known)
    place = chance.choice(known)
    changed = dict(rows[place])
    column = chance.choice(("stored_boundary", "stored_epoch", "stored_reset_epoch", "error"))
    if column == "error":
        refused = changed["type"] == "fail"
        changed |= {"error": "NONE", "type": "ok"} if refused else {"error": FENCED, "type": "fail"}
    else:
        changed[column] = chance.choice((-1, 1, 2, 3, 4, 100, 200))
    return [*rows[:place], changed, *rows[place + 1 :]]


@settings(max_examples=3 * settings().max_examples // 2, deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.integers(2, 8),
    st.sampled_from(("boundary", "boundary-tolerant")),
)
def test_a_spoilt_observation_is_flagged_exactly_when_no_order_explains_it(
    chance: random.Random, operations: int, name: str
) -> None:
    tolerant = name == "boundary-tolerant"
    rows = recorded_rows(chance, operations=operations, clients=4, lost=0.15, tolerant=tolerant)
    rows = spoilt(chance, rows)
    model = model_named(name)
    found = operations_of_rows(rows, model)
    (result,) = search_rows(rows, model=name)
    expected = "linearizable" if has_legal_order(found, model) else "not-linearizable"
    assert result["verdict"] == expected
    first = first_return_without_order(found, model)
    assert result["op"] == first
    if first is not None:
        outcome = search(found, model)
        assert set(outcome.states_there) == states_before_return(first, found, model)
