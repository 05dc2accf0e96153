"""Rules into queries, queries into results; the same on every engine.

Rules on one table with the same assumptions become one scan: a single aggregate that yields, for
each of them, how often it was exercised and how often it was violated. Rows are fetched only for
rules that were violated, the first few in order of `op`. A rule whose query fails is *broken*, and
no other rule suffers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from harness.rules import Finding, Holds, Rule, RuleResult, Search
from spark_checkers.engine import Engine, Row
from spark_checkers.linearizability import LinearizabilityError, search_rows
from spark_checkers.view_catalogue import view_sql, views_needed

FINDINGS_KEPT = 9
UNUSABLE = "unusable"


def evaluate(engine: Engine, rules: Iterable[Rule], *, reference: bool) -> list[RuleResult]:
    """Judge the rules over the tables that the engine has loaded, in order of rule id."""
    scans: dict[tuple[str, tuple[str, ...]], dict[str, Holds]] = defaultdict(dict)
    searches: dict[str, Search] = {}
    for rule in rules:
        judge = rule.judge_for(reference=reference)
        if isinstance(judge, Holds):
            scans[judge.table, rule.assumes][rule.id] = judge
        elif isinstance(judge, Search):
            searches[rule.id] = judge
    _define_views(engine, [*(j for group in scans.values() for j in group.values())], searches)
    counted = _count_all(engine, [_Scan(*key, group) for key, group in scans.items()])
    results = [*_with_findings(engine, counted)]
    results += [_run_search(engine, rule_id, judge) for rule_id, judge in searches.items()]
    return sorted(results, key=lambda result: result.rule)


def _define_views(engine: Engine, judges: list[Holds], searches: Mapping[str, Search]) -> None:
    tables = {judge.table for judge in judges} | {judge.table for judge in searches.values()}
    for view in views_needed(tables):
        engine.define(view, view_sql(view), shared=view in _SHARED)


_SHARED = frozenset({"boundary_known", "boundary_logs"})


@dataclass(frozen=True, slots=True)
class _Scan:
    """Rules that are judged over the same rows."""

    table: str
    assumes: tuple[str, ...]
    group: Mapping[str, Holds]

    @property
    def source(self) -> str:
        return _judged_rows(self.table, self.assumes)

    @property
    def query(self) -> str:
        columns = []
        for place, judge in enumerate(self.group.values()):
            columns.append(_count(f"({judge.when})", f"exercised_{place}"))
            columns.append(_count(_violated(judge), f"violated_{place}"))
        return f"SELECT {', '.join(columns)} FROM {self.source}"

    def results(self, answer: list[Row]) -> Iterator[tuple[_Scan, RuleResult]]:
        (counts,) = answer
        for place, rule_id in enumerate(self.group):
            yield (
                self,
                RuleResult(
                    rule=rule_id,
                    exercised=int(counts[f"exercised_{place}"]),
                    violations=int(counts[f"violated_{place}"]),
                ),
            )

    def single(self) -> list[_Scan]:
        """The same, one rule at a time: so that one bad rule does not spoil the others."""
        return [_Scan(self.table, self.assumes, {r: judge}) for r, judge in self.group.items()]


def _count_all(engine: Engine, scans: list[_Scan]) -> list[tuple[_Scan, RuleResult]]:
    counted: list[tuple[_Scan, RuleResult]] = []
    spoiled: list[_Scan] = []
    for scan, answer in zip(scans, engine.answers([s.query for s in scans]), strict=True):
        if not isinstance(answer, Exception):
            counted += scan.results(answer)
        elif len(scan.group) > 1:
            spoiled += scan.single()
        else:
            counted.append((scan, _broken(next(iter(scan.group)), answer)))
    return counted + (_count_all(engine, spoiled) if spoiled else [])


def _with_findings(engine: Engine, counted: list[tuple[_Scan, RuleResult]]) -> Iterator[RuleResult]:
    violated = [(scan, result) for scan, result in counted if result.violations]
    queries = [_evidence_query(scan, scan.group[result.rule]) for scan, result in violated]
    for (scan, result), answer in zip(violated, engine.answers(queries), strict=True):
        if isinstance(answer, Exception):
            yield replace(result, broken=_broken(result.rule, answer).broken)
        else:
            show = scan.group[result.rule].show
            findings = tuple(_finding(result.rule, row, show) for row in answer)
            yield replace(result, findings=findings)
    yield from (result for _, result in counted if not result.violations)


def _evidence_query(scan: _Scan, judge: Holds) -> str:
    columns = ", ".join(dict.fromkeys(("op", "topic", "partition", *judge.show)))
    return (
        f"SELECT {columns} FROM {scan.source} WHERE {_violated(judge)}"
        f" ORDER BY op LIMIT {FINDINGS_KEPT}"
    )


def _judged_rows(table: str, assumes: tuple[str, ...]) -> str:
    """The rows of a table outside every window in which an assumption of the rule was broken."""
    if not assumes:
        return f"{table} AS t"
    names = ", ".join(f"'{name}'" for name in assumes)
    return (
        f"(SELECT * FROM {table} AS judged WHERE NOT EXISTS (SELECT 1 FROM fault_windows AS w"
        f" WHERE w.assumption IN ({names}) AND w.clock = judged.clock"
        f" AND w.since <= coalesce(judged.ended, 9223372036854775807)"
        f" AND coalesce(w.until, 9223372036854775807) >= judged.began)) AS t"
    )


def _violated(judge: Holds) -> str:
    return f"(({judge.when}) AND NOT coalesce(({judge.holds}), FALSE))"


def _count(condition: str, name: str) -> str:
    return f"coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0) AS {name}"


def _finding(rule_id: str, row: Row, show: tuple[str, ...]) -> Finding:
    seen = ", ".join(f"{name}={_shown(row[name])}" for name in show)
    return Finding(
        rule=rule_id,
        op=int(row["op"]),
        topic=row["topic"],
        partition=None if row["partition"] is None else int(row["partition"]),
        seen=seen,
    )


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _run_search(engine: Engine, rule_id: str, judge: Search) -> RuleResult:
    function = partial(_search_key, model=judge.model, budget_states=judge.budget_states)
    try:
        rows = engine.per_key(judge.table, judge.key, function)
    except Exception as error:
        return _broken(rule_id, error)
    unusable = sorted(r["explanation"] for r in rows if r["verdict"] == UNUSABLE)
    bad = sorted((r for r in rows if r["verdict"] == "not-linearizable"), key=lambda r: r["op"])
    return RuleResult(
        rule=rule_id,
        exercised=sum(int(r["operations"]) for r in rows),
        violations=len(bad),
        unknown=sum(r["verdict"] == "unknown" for r in rows),
        findings=tuple(_search_finding(rule_id, r) for r in bad[:FINDINGS_KEPT]),
        broken=unusable[0] if unusable else "",
    )


def _search_key(rows: list[Row], *, model: str, budget_states: int) -> list[Row]:
    """Search one key; operations that no model can read are a result too, not an exception."""
    try:
        return search_rows(rows, model=model, budget_states=budget_states)
    except LinearizabilityError as error:
        nothing = {"op": None, "operations": 0, "explored": 0}
        return [{**nothing, "verdict": UNUSABLE, "explanation": str(error)}]


def _search_finding(rule_id: str, row: Row) -> Finding:
    return Finding(
        rule=rule_id,
        op=int(row["op"]),
        topic=row["topic"],
        partition=int(row["partition"]),
        seen=str(row["explanation"]),
    )


def _broken(rule_id: str, error: Exception) -> RuleResult:
    reason = str(error).strip().splitlines()
    text = f"the judge failed: {type(error).__name__}: {reason[0] if reason else ''}"
    return RuleResult(rule=rule_id, exercised=0, violations=0, broken=text[:300])
