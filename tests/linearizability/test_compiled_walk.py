from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_histories import history

from spark_checkers.linearizability import (
    NotForCompiledCode,
    Operation,
    Outcome,
    Verdict,
    Walking,
    model_named,
    search,
)
from spark_checkers.linearizability.models import Model
from spark_checkers.linearizability.recorded import (
    recorded_appends,
    recorded_cas_register,
    recorded_register,
    with_bad_read,
    with_crossed_reads,
    with_stale_read,
)

searching = importlib.import_module("spark_checkers.linearizability.search")
REGISTER = model_named("register", initial=0)
CAS_REGISTER = model_named("cas-register", initial=0)
GOOD = Verdict.LINEARIZABLE
Recorded = Callable[..., list[Operation]]


def write(op: int, value: object) -> Operation:
    return Operation(
        op=op, process=op, f="write", arguments=value, result=None, began=0, ended=1_000 + op
    )


def lost_write(op: int, value: object) -> Operation:
    return replace(write(op, value), ended=None)


def same_by_both(operations: list[Operation], model: Model, budget: int = 100_000) -> Outcome:
    by_code = search(operations, model, budget_states=budget, walking=Walking.COMPILED)
    assert by_code == search(operations, model, budget_states=budget, walking=Walking.PYTHON)
    return by_code


@pytest.mark.parametrize(
    ("recorded", "model"), [(recorded_register, REGISTER), (recorded_cas_register, CAS_REGISTER)]
)
def test_long_histories_give_the_same_outcome_by_both_walks(
    recorded: Recorded, model: Model
) -> None:
    @settings(max_examples=25, deadline=None)
    @given(
        st.integers(0, 2**32),
        st.integers(100, 1_000),
        st.integers(2, 25),
        st.sampled_from((0.0, 0.02, 0.2)),
        st.sampled_from((0, 1, 99)),
        st.sampled_from((10, 1_000, 5_000)),
    )
    def compare(
        seed: int, count: int, clients: int, lost: float, instead: int, budget: int
    ) -> None:
        good = recorded(count, clients, lost=lost, seed=seed)
        bad, _ = with_bad_read(good, instead)
        assert same_by_both(good, model, budget).verdict is not Verdict.NOT_LINEARIZABLE
        same_by_both(bad, model, budget)

    compare()


def test_a_walk_that_outgrows_its_room_goes_on_where_it_was() -> None:
    bad, late = with_crossed_reads(recorded_cas_register(300, 6, lost=0.1))
    outcome = same_by_both(bad, CAS_REGISTER)
    assert outcome.explored > 3_000
    assert outcome.first_unplaceable == late


def test_more_open_operations_than_a_number_has_bits_are_walked_in_python() -> None:
    crowd = [write(op, op % 3) for op in range(63)]
    with pytest.raises(NotForCompiledCode, match="63 operations are open at once"):
        search(crowd, REGISTER, walking=Walking.COMPILED)
    assert search(crowd, REGISTER).verdict is Verdict.LINEARIZABLE
    assert same_by_both(crowd[:62], REGISTER).verdict is Verdict.LINEARIZABLE


NOT_FOR_CODE = {
    "looks ahead": (model_named("kv"), recorded_appends(10, 2)),
    "equal to nothing": (REGISTER, [write(1, float("nan"))]),
    "more than 64 bits": (REGISTER, [replace(write(1, 1), ended=2**63)]),
    "too many kinds": (REGISTER, [write(1, 1), *(lost_write(op, op) for op in range(2, 67))]),
}


@pytest.mark.parametrize("reason", NOT_FOR_CODE)
def test_a_history_that_is_not_for_compiled_code_says_why(reason: str) -> None:
    model, operations = NOT_FOR_CODE[reason]
    with pytest.raises(NotForCompiledCode, match=reason):
        search(operations, model, walking=Walking.COMPILED)
    assert search(operations, model) == search(operations, model, walking=Walking.PYTHON)


def test_as_many_kinds_of_lost_writes_as_fit_are_walked_by_compiled_code() -> None:
    lost = [write(1, 1), *(lost_write(op, op) for op in range(2, 66))]
    assert same_by_both(lost, REGISTER).verdict is Verdict.LINEARIZABLE


@pytest.mark.parametrize("patience", [0, 40, 100_000])
def test_left_alone_the_search_gives_the_outcome_of_either_walk(
    patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad, _ = with_bad_read(recorded_cas_register(30, 6, lost=0.1), 1)
    monkeypatch.setattr(searching, "_PATIENCE", searching._Patience(patience))
    assert search(bad, CAS_REGISTER) == same_by_both(bad, CAS_REGISTER)
    few = search(bad, CAS_REGISTER, budget_states=12)
    assert few == same_by_both(bad, CAS_REGISTER, budget=12)


def test_without_a_compiler_the_search_stays_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "_PATIENCE", searching._Patience(0))
    monkeypatch.setattr(searching, "_has_compiler", lambda: False)
    monkeypatch.setitem(sys.modules, "spark_checkers.linearizability.compiled.walks", None)
    assert search([write(1, 1)], REGISTER).verdict is Verdict.LINEARIZABLE


def test_a_value_nobody_wrote_is_found_out_in_a_crowd() -> None:
    bad, late = with_bad_read(recorded_register(300, 20), 99)
    outcome = same_by_both(bad, REGISTER)
    assert outcome.verdict is Verdict.NOT_LINEARIZABLE
    assert outcome.first_unplaceable == late
    assert outcome.states_there
    assert outcome.explored < 2_000


def test_a_value_nobody_wrote_is_found_out_although_the_budget_is_spent() -> None:
    table = """
        0..9    a  write 1
        0..9    b  write 2
        0..9    c  write 3
        10..11  d  read 4
    """
    outcome = same_by_both(history(table), REGISTER, budget=2)
    assert outcome.verdict is Verdict.NOT_LINEARIZABLE
    assert outcome.first_unplaceable == 3
    assert outcome.states_there == ()
    assert "the budget was spent before it was clear" in outcome.explanation


def test_a_proven_violation_spends_little_on_what_else_could_stand_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad, late = with_bad_read(recorded_cas_register(1_000, 20), 99)
    patient = same_by_both(bad, CAS_REGISTER)
    monkeypatch.setattr(searching, "LINGERING_STATES", 2)
    hurried = same_by_both(bad, CAS_REGISTER)
    assert patient.states_there
    assert hurried.states_there == ()
    assert patient.first_unplaceable == hurried.first_unplaceable == late
    assert hurried.explored < patient.explored
    monkeypatch.setattr(searching, "_PATIENCE", searching._Patience(100_000))
    assert search(bad, CAS_REGISTER) == hurried


def test_an_impossible_value_does_not_hide_an_earlier_violation() -> None:
    table = """
        0..9    a  write 1
        0..9    b  write 2
        0..9    c  write 3
        10..11  d  read 1
        12..13  d  read 2
        14..15  d  read 7
    """
    outcome = same_by_both(history(table), REGISTER, budget=14)
    assert outcome.verdict is Verdict.NOT_LINEARIZABLE
    assert outcome.first_unplaceable == 4


def test_a_value_that_was_overwritten_is_found_out_although_the_budget_is_spent() -> None:
    table = """
        0..5    a  write 1
        6..9    b  write 2
        0..9    c  write 3
        10..11  d  read {}
    """
    stale = same_by_both(history(table.format(1)), REGISTER, budget=1)
    assert stale.verdict is Verdict.NOT_LINEARIZABLE
    assert stale.first_unplaceable == 3
    for possible in (2, 3):
        assert same_by_both(history(table.format(possible)), REGISTER).verdict is GOOD


@pytest.mark.parametrize(
    "still_there",
    [
        "0..6 a write 1\n 6..9 b write 2\n 10..11 d read 1",
        "0..5 a write 1\n 6..? b write 2\n 10..11 d read 1",
        "0..5 a write 1\n 6..10 b write 2\n 10..11 d read 1",
        "0..5 a write 1\n 6..9 b write 2\n 0..? c write 1\n 10..11 d read 1",
        "0..5 a write 1\n 6..9 b write 2\n 10..11 d read 1\n 11..12 c write 1",
        "6..9 b cas 0 2\n 8..10 c cas 2 0\n 10..11 d read 0",
    ],
)
def test_a_value_that_may_have_stayed_or_come_back_is_not_called_overwritten(
    still_there: str,
) -> None:
    assert same_by_both(history(still_there), CAS_REGISTER).verdict is GOOD


@pytest.mark.parametrize(
    ("recorded", "model"), [(recorded_register, REGISTER), (recorded_cas_register, CAS_REGISTER)]
)
def test_a_planted_error_is_the_one_that_is_found(recorded: Recorded, model: Model) -> None:
    for clients in (3, 20):
        stale = with_stale_read(recorded(1_000, clients))
        assert stale is not None
        assert same_by_both(stale[0], model).first_unplaceable == stale[1]
    crossed, late = with_crossed_reads(recorded(100, 5, lost=0.02))
    assert same_by_both(crossed, model).first_unplaceable == late


def test_a_value_written_just_in_time_is_not_impossible() -> None:
    table = """
        0..9    a  write 1
        0..9    b  write 2
        0..9    c  write 3
        10..12  d  read 7
        12..20  e  write 7
        12..20  f  write 8
        13..14  d  read 8
        15..16  d  read 7
    """
    assert same_by_both(history(table), REGISTER, budget=3).verdict is Verdict.UNKNOWN
    assert same_by_both(history(table), REGISTER).first_unplaceable == 7
