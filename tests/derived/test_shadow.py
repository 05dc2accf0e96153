"""Mutants asked beside their originals."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import pytest

from conformance.derived import mutants_of
from conformance.derived.shadow import same, shadowing
from reference_impl.decisions import Mutant, find_decision, original
from reference_impl.log.decisions import log_start_may_be, next_log_start


@dataclass(frozen=True, slots=True)
class Counts:
    """Something that a decision could answer."""

    by_name: dict[str, int]


def mutants(*names: str) -> list[Mutant]:
    found = [one for name in names for one in mutants_of(find_decision(name))]
    return [one for one in found if isinstance(one, Mutant)]


def test_a_mutant_that_answers_as_the_original_is_not_named() -> None:
    with shadowing(mutants("log-start-may-be")) as shadow:
        assert log_start_may_be(4, 7)
        assert not log_start_may_be(8, 7)
    assert len(shadow.differing) == 3  # negated, always, never; not `<` for `<=`
    with shadowing(mutants("log-start-may-be")) as shadow:
        assert log_start_may_be(7, 7)
    assert any("(7, 7) gives True, the mutant False" in one for one in shadow.differing.values())


def test_the_run_takes_the_answers_of_the_originals() -> None:
    with shadowing(mutants("next-log-start", "log-start-may-be")) as shadow:
        assert next_log_start(3, 5) == 5
    assert shadow.asked == {"next-log-start": 1}
    assert next_log_start(3, 5) == 5


def test_a_mutant_that_raises_answers_differently() -> None:
    raising = Mutant(name="raises", decision="next-log-start", replace=lambda current, asked: 1 / 0)
    with shadowing([raising]) as shadow:
        assert next_log_start(3, 5) == 5
    assert "ZeroDivisionError" in shadow.differing["raises"]


def test_what_answers_where_the_original_raises_differs_and_the_run_takes_the_error() -> None:
    def replace(current: int, asked: int) -> int:
        return asked

    answering = Mutant(name="answers", decision="next-log-start", replace=replace)
    raising = Mutant(name="raises", decision="next-log-start", replace=original("next-log-start"))
    with shadowing([answering, raising]) as shadow, pytest.raises(TypeError):
        next_log_start("three", 5)  # type: ignore[arg-type]
    assert list(shadow.differing) == ["answers"]


@pytest.mark.parametrize(
    ("answer", "other"),
    [
        (0, False),
        ((0,), (False,)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ([Counts({"a": 1, "b": 0})], [Counts({"a": 1, "b": False})]),
    ],
)
def test_what_is_merely_equal_is_another_answer(answer: object, other: object) -> None:
    assert answer == other
    assert same(answer, deepcopy(answer))
    assert not same(answer, other)
