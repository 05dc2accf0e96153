"""Rules about cycles, judged by one search for all of them."""

from __future__ import annotations

from collections.abc import Mapping

from harness.rules import Cycles, Finding, RuleResult
from spark_checkers.cycles import CycleReport, find_cycles
from spark_checkers.kernel import Kernel


def judge_cycles(
    kernel: Kernel, judges: Mapping[str, Cycles], *, ww_deps: bool, kept: int
) -> list[RuleResult]:
    """The results of the rules, by id; with `ww_deps` the order of writes makes dependencies."""
    if not judges:
        return []
    first = next(iter(judges.values()))
    try:
        report = find_cycles(kernel, first.table, first.vertices, ww_deps=ww_deps)
    except Exception as error:
        return [broken_result(rule_id, error) for rule_id in judges]
    return [_result(rule_id, report, judge.kind, kept) for rule_id, judge in judges.items()]


def nothing_transacted(judges: Mapping[str, Cycles]) -> list[RuleResult]:
    """The results of the rules for a history without any operation that sends or polls."""
    report = CycleReport(dependencies={}, operations=0)
    return [_result(rule_id, report, judge.kind, 0) for rule_id, judge in judges.items()]


def _result(rule_id: str, report: CycleReport, kind: str, kept: int) -> RuleResult:
    found = report.found.get(kind, [])
    return RuleResult(
        rule=rule_id,
        exercised=report.exercised(kind),
        violations=len(found),
        findings=tuple(
            Finding(
                rule=rule_id,
                op=case.op,
                topic=None,
                partition=None,
                seen=case.words(),
                shown=case.shown(),
            )
            for case in found[:kept]
        ),
    )


def broken_result(rule_id: str, error: Exception) -> RuleResult:
    """The result of a rule whose judge failed."""
    reason = str(error).strip().splitlines()
    text = f"the judge failed: {type(error).__name__}: {reason[0] if reason else ''}"
    return RuleResult(rule=rule_id, exercised=0, violations=0, broken=text[:300])
