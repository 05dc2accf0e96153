"""Mutants asked beside their originals."""

from __future__ import annotations

from conformance.derived import mutants_of
from conformance.derived.shadow import shadowing
from reference_impl.decisions import Mutant, find_decision
from reference_impl.log.decisions import log_start_may_be, next_log_start


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
