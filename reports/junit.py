"""JUnit XML of a run: a suite for each profile, a case for each rule.

A broken rule is a failure. No proof and a broken lab are errors, each with its own type, so that CI
does not take them for a pass. What cannot be observed, or was not claimed, is skipped with its
reason.
"""

from __future__ import annotations

from harness.rules import Judged, Verdict
from reports.markup import Markup, tag
from reports.terminal import citation, paragraph_text
from reports.view import RunView

_ERRORS = {Verdict.NO_PROOF: "no proof", Verdict.BROKEN: "lab broken"}
_SKIPPED = (Verdict.NOT_OBSERVABLE, Verdict.NOT_APPLICABLE)


def junit(view: RunView) -> str:
    """The document."""
    by_profile: dict[str, list[Judged]] = {}
    for one in view.conclusion.judgement.judged:
        by_profile.setdefault(one.rule.profile, []).append(one)
    suites = [_suite(view, profile, members) for profile, members in by_profile.items()]
    header = view.conclusion.header
    name = f"{header.get('sut')} {header.get('sut_version')}: {view.conclusion.headline}"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tag("testsuites", suites, name=name)}\n'


def _suite(view: RunView, profile: str, members: list[Judged]) -> Markup:
    verdicts = [one.verdict for one in members]
    return tag(
        "testsuite",
        [_case(view, one) for one in members],
        name=profile,
        tests=len(members),
        failures=sum(v is Verdict.FAIL for v in verdicts),
        errors=sum(v in _ERRORS for v in verdicts),
        skipped=sum(v in _SKIPPED for v in verdicts),
        timestamp=str(view.conclusion.header.get("started") or ""),
    )


def _case(view: RunView, one: Judged) -> Markup:
    rule = one.rule
    said = paragraph_text(one, view.where)
    outcome: Markup | None = None
    if one.verdict is Verdict.FAIL:
        outcome = tag("failure", said, message=one.reason, type=rule.level.value)
    elif one.verdict in _ERRORS:
        outcome = tag("error", said, message=one.reason, type=_ERRORS[one.verdict])
    elif one.verdict in _SKIPPED:
        outcome = tag("skipped", message=one.reason or one.verdict.value)
    told = tag("system-out", f"{one.result.exercised} cases · {citation(rule)}")
    name = f"{rule.id} {rule.sentence}"
    return tag("testcase", outcome, told, classname=f"{rule.profile}.{rule.section}", name=name)
