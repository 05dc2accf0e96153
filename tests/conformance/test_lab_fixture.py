"""The `lab` fixture: a verdict becomes the outcome of the test, and Allure learns the rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.catalogue import CATALOGUE
from conformance.plugin import NoProof, conclude
from harness.errors import LabBroken
from harness.rules import Finding, Judged, RuleResult, Verdict

RULE = CATALOGUE["MIG-003"]

KEEPS = """
    import pytest

    @pytest.mark.rule("MIG-003")
    def test_it_holds(lab):
        lab.play('''
            old  call  create
            old  call  initialize b0=100 epoch=5 seeds=A
            new  call  initialize b0=200 epoch=6 seeds=A
        ''')
"""
BREAKS = KEEPS.replace(
    "lab.play",
    'lab.reference(mutants=("conformance.mutants.boundary:higher-epoch-moves-the-boundary",))\n'
    "        lab.play",
    1,
)
SHOWS_NOTHING = KEEPS.replace("new  call  initialize b0=200 epoch=6 seeds=A", "new  call  get")


def judged(verdict: Verdict, reason: str = "because") -> Judged:
    finding = Finding(rule=RULE.id, op=7, topic="t", partition=0, seen="boundary=200")
    result = RuleResult(rule=RULE.id, exercised=1, violations=1, findings=(finding,))
    return Judged(rule=RULE, verdict=verdict, reason=reason, result=result)


def test_a_failed_rule_fails_the_test_and_shows_the_finding() -> None:
    with pytest.raises(AssertionError, match=r"MIG-003 .*\n  op 7: boundary=200"):
        conclude((judged(Verdict.PASS), judged(Verdict.FAIL)))


def test_a_broken_lab_is_not_an_assertion() -> None:
    with pytest.raises(LabBroken, match="MIG-003: because"):
        conclude((judged(Verdict.BROKEN),))


def test_no_proof_does_not_pass() -> None:
    with pytest.raises(NoProof, match="never exercised"):
        conclude((judged(Verdict.NO_PROOF, "never exercised"),))


def test_what_cannot_be_observed_is_skipped_with_the_reason() -> None:
    with pytest.raises(pytest.skip.Exception, match="memory has none"):
        conclude((judged(Verdict.NOT_OBSERVABLE, "memory has none"),))


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.WEAK])
def test_a_kept_rule_passes(verdict: Verdict) -> None:
    conclude((judged(verdict),))


def test_allure_gets_the_verdict_and_labels_from_the_rule(pytester: pytest.Pytester) -> None:
    sources = {"passed": KEEPS, "failed": BREAKS, "unknown": SHOWS_NOTHING}
    pytester.makepyfile(**{f"test_{status}": source for status, source in sources.items()})
    pytester.makeini("[pytest]\nmarkers =\n    rule: r\n    world: w\n    process: p\n")
    pytester.runpytest_subprocess("-p", "conformance.plugin", "--alluredir=found")
    found = [json.loads(path.read_text("utf-8")) for path in Path("found").glob("*-result.json")]

    told = {result["fullName"].partition("#")[0]: result["status"] for result in found}
    assert told == {f"test_{status}": status for status in sources}
    for result in found:
        labels = {label["name"]: label["value"] for label in result["labels"]}
        assert labels["epic"] == "migration"
        assert labels["feature"] == RULE.section
        assert labels["story"] == f"MIG-003 {RULE.sentence}"
        assert labels["severity"] == "critical"
