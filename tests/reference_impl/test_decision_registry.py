"""The registry: late binding, restoring, and the errors a mistake gets."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reference_impl import decisions as registry
from reference_impl.control_plane import boundary
from reference_impl.control_plane.boundary import LogRow, admit_epoch
from reference_impl.decisions import (
    DuplicateDecision,
    Mutant,
    MutantError,
    SqlMutant,
    UnknownDecision,
    apply,
    decision,
    decisions,
    in_force,
    mutated,
    original,
    sql_decision,
)
from reference_impl.ports.control_plane import BoundaryError

STALE = LogRow(epoch=5)


def anyone_may_write(log: LogRow, leader_epoch: int | None) -> BoundaryError:
    return BoundaryError.NONE


UNFENCED = Mutant(name="unfenced", decision="admit-epoch", replace=anyone_may_write)


@pytest.fixture
def fresh_name() -> Iterator[str]:
    """A name to register; the registry lives as long as the process, so it is taken out again."""
    yield "decision-of-this-test"
    registry._registered.pop("decision-of-this-test", None)


def test_a_mutant_replaces_a_decision_however_it_was_imported() -> None:
    with mutated(UNFENCED):
        assert admit_epoch(STALE, 4) is BoundaryError.NONE
        assert boundary.admit_epoch(STALE, 4) is BoundaryError.NONE
        assert boundary.admit_leader(STALE, 4) is BoundaryError.NONE


def test_leaving_the_block_restores_the_decision() -> None:
    with mutated(UNFENCED):
        pass
    assert admit_epoch(STALE, 4) is BoundaryError.FENCED_LEADER_EPOCH


def test_an_exception_in_the_block_restores_the_decision_too() -> None:
    with pytest.raises(ZeroDivisionError), mutated(UNFENCED):
        _ = 1 / 0
    assert admit_epoch(STALE, 4) is BoundaryError.FENCED_LEADER_EPOCH


def test_an_inner_block_gives_back_the_outer_mutant(fresh_name: str) -> None:
    answer = decision(fresh_name)(lambda: "original")
    outer = Mutant(name="outer", decision=fresh_name, replace=lambda: "outer")
    inner = Mutant(name="inner", decision=fresh_name, replace=lambda: "inner")
    with mutated(outer):
        with mutated(inner):
            assert answer() == "inner"
        assert answer() == "outer"
    assert answer() == "original"


def test_an_applied_mutant_stays_and_is_listed(fresh_name: str) -> None:
    answer = decision(fresh_name)(lambda: "original")
    with mutated():  # leaving this block takes the lasting mutant away again
        apply(Mutant(name="lasting", decision=fresh_name, replace=lambda: "mutant"))
        assert answer() == "mutant"
        assert in_force() == ("lasting",)
    assert in_force() == ()


def test_a_mutant_can_ask_the_original(fresh_name: str) -> None:
    answer = decision(fresh_name)(lambda number: number + 1)

    def wrong_at_seven(number: int) -> object:
        return 0 if number == 7 else original(fresh_name)(number)

    with mutated(Mutant(name="wrong at seven", decision=fresh_name, replace=wrong_at_seven)):
        assert [answer(6), answer(7)] == [7, 0]


def test_the_wrapper_keeps_the_name_and_the_docstring() -> None:
    assert admit_epoch.__name__ == "admit_epoch"
    assert "fence" in (admit_epoch.__doc__ or "")


def test_registering_a_name_twice_is_an_error(fresh_name: str) -> None:
    decision(fresh_name)(lambda: 1)
    with pytest.raises(DuplicateDecision, match=fresh_name):
        decision(fresh_name)(lambda: 2)


def test_registering_a_sql_decision_twice_is_an_error() -> None:
    assert "sql:admit_epoch" in decisions()
    with pytest.raises(DuplicateDecision, match="sql:admit_epoch"):
        sql_decision("admit_epoch", file="V14__Add_diskless_log_start_epoch.sql")


def test_a_mutant_of_an_unknown_decision_is_told_the_nearest_name() -> None:
    lost = Mutant(name="lost", decision="admit-epochs", replace=lambda: None)
    with pytest.raises(UnknownDecision, match="did you mean admit-epoch"), mutated(lost):
        pass


def test_a_mutant_with_other_arguments_is_refused() -> None:
    narrow = Mutant(name="narrow", decision="admit-epoch", replace=lambda log: None)
    with pytest.raises(MutantError, match="does not take the arguments"):
        apply(narrow)


def test_two_mutants_of_one_decision_are_refused() -> None:
    with pytest.raises(MutantError, match="two mutants"), mutated(UNFENCED, UNFENCED):
        pass


def test_a_sql_mutant_is_sent_to_the_database() -> None:
    edit = SqlMutant(name="edit", decision="sql:admit_epoch", old="<", new="<=")
    with pytest.raises(MutantError, match="install"):
        apply(edit)  # type: ignore[arg-type]


def test_a_python_mutant_of_a_sql_decision_is_refused() -> None:
    wrong_kind = Mutant(name="wrong kind", decision="sql:admit_epoch", replace=lambda: None)
    with pytest.raises(MutantError, match="SqlMutant"):
        apply(wrong_kind)
