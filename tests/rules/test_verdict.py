"""Verdicts: nothing means nothing, and a counterexample outranks everything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.catalogue import CATALOGUE
from harness.rules import Level, RuleResult, Verdict, exit_code

MUST = CATALOGUE["MIG-001"]
SHOULD = replace(MUST, level=Level.SHOULD)


def result(
    *, exercised: int = 1, violations: int = 0, unknown: int = 0, broken: str = ""
) -> RuleResult:
    return RuleResult(
        rule="MIG-001", exercised=exercised, violations=violations, unknown=unknown, broken=broken
    )


def test_no_verdicts_at_all_are_no_proof() -> None:
    assert Verdict.worst([]) is Verdict.NO_PROOF


def test_what_could_not_be_observed_neither_passes_nor_fails_a_run() -> None:
    assert Verdict.worst([Verdict.NOT_OBSERVABLE]) is Verdict.NO_PROOF
    assert Verdict.worst([Verdict.NOT_OBSERVABLE, Verdict.PASS]) is Verdict.PASS


def test_a_failure_outranks_a_broken_lab() -> None:
    assert Verdict.worst([Verdict.PASS, Verdict.BROKEN, Verdict.FAIL]) is Verdict.FAIL


@pytest.mark.parametrize(
    ("verdict", "code"),
    [("FAIL", 1), ("BROKEN", 3), ("NO_PROOF", 2), ("WEAK", 0), ("PASS", 0)],
)
def test_each_verdict_has_its_exit_code(verdict: str, code: int) -> None:
    assert exit_code(Verdict[verdict]) == code


def test_a_rule_that_was_never_exercised_is_no_proof() -> None:
    assert result(exercised=0).verdict(MUST)[0] is Verdict.NO_PROOF


def test_a_violated_must_fails_and_a_violated_should_is_weak() -> None:
    assert result(violations=1).verdict(MUST)[0] is Verdict.FAIL
    assert result(violations=1).verdict(SHOULD)[0] is Verdict.WEAK


def test_an_incomplete_run_passes_nothing_but_still_fails() -> None:
    assert result().verdict(MUST, complete=False)[0] is Verdict.NO_PROOF
    assert result(violations=1).verdict(MUST, complete=False)[0] is Verdict.FAIL


def test_an_exhausted_search_is_no_proof() -> None:
    assert result(unknown=1).verdict(MUST)[0] is Verdict.NO_PROOF


def test_a_judge_that_crashed_is_broken_not_failed() -> None:
    assert result(exercised=0, broken="no such column").verdict(MUST)[0] is Verdict.BROKEN
