"""Mutants derived from decisions: names, loading, loops."""

from __future__ import annotations

import pytest

from conformance.derived import OURS, derived_mutants, find_mutant
from conformance.derived.names import mutant_name
from conformance.derived.python import derive
from conformance.derived.survivors import survivors, unknown
from reference_impl.decisions import (
    Decision,
    Mutant,
    MutantError,
    decisions,
    load_mutant,
    mutated,
)
from reference_impl.log.decisions import find_duplicate


def test_every_decision_with_a_choice_in_it_has_mutants() -> None:
    with_mutants = {one.decision for one in derived_mutants().values()}
    python = {
        one.name
        for one in decisions().values()
        if one.function is not None and one.function.__module__.startswith(OURS)
    }
    # They hand on what they are given: there is nothing in them that could be shifted or dropped.
    handing_on = {
        "admit-beside",
        "assign-offset",
        "epoch-after-reset",
        "id-of-copy",
        "indexes-to-put",
        "key-of-event",
        "latest-timestamp",
        "log-key",
        "remote-bytes-in",
        "reported-boundary",
        "size-of-copy",
    }
    assert python - with_mutants == handing_on


def test_names_are_unique_and_load_in_another_process() -> None:
    mutants = derived_mutants()
    assert len({one.name for one in mutants.values()}) == len(mutants)
    reference = next(iter(mutants))
    assert load_mutant(reference).name == mutants[reference].name


def test_a_name_depends_on_the_text_that_changes_and_not_on_its_line() -> None:
    assert mutant_name("d", "negated", "a == b", "a != b", 1) == "d/negated-7cd6"


def test_a_name_that_no_mutant_has_is_told() -> None:
    with pytest.raises(MutantError, match="no mutant of find-duplicate is called"):
        find_mutant("find-duplicate/negated-none")
    with pytest.raises(MutantError, match="no decision is called 'find'"):
        load_mutant("conformance.derived:find/negated-none")


def test_a_mutant_sees_other_decisions_as_its_original_does() -> None:
    mutant = next(
        one
        for one in derived_mutants().values()
        if one.decision == "find-duplicate" and one.why.startswith("it answers None")
    )
    assert isinstance(mutant, Mutant)
    with mutated(mutant):
        assert find_duplicate([], 0, 0, 0, 0) is None


def counts_down(start: int) -> int:
    while start > 0:
        start -= 1
    return start


def test_a_mutant_that_loops_for_ever_ends_in_an_error() -> None:
    decision = Decision(name="counts-down", function=counts_down, rules=(), kind="python")
    (endless,) = [one for one in derive(decision) if "pass" in one.why]
    with pytest.raises(RuntimeError, match="loops for ever"):
        endless.replace(3)


def test_what_compiles_to_the_same_code_is_no_mutant() -> None:
    decision = Decision(name="counts-down", function=counts_down, rules=(), kind="python")
    codes = [one.replace.__code__.co_code for one in derive(decision)]  # type: ignore[attr-defined]
    assert counts_down.__code__.co_code not in codes


def test_what_is_argued_away_is_derived() -> None:
    assert unknown(one.name for one in derived_mutants().values()) == []
    assert all(len(one.because) > 20 for one in survivors().values())
