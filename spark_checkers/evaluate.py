"""Rules into queries, queries into results; the same on every engine.

Rules on one table with the same assumptions become one scan: a single aggregate that yields, for
each of them, how often it was exercised and how often it was violated. Rows are fetched only for
rules that were violated, the first few in order of `op`. A rule whose query fails is *broken*, and
no other rule suffers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import partial

from harness.rules import Finding, Holds, Judge, Rule, RuleResult, Search
from spark_checkers.engine import Engine, Row
from spark_checkers.linearizability import search_rows
from spark_checkers.view_catalogue import view_sql, views_needed

FINDINGS_KEPT = 9


def evaluate(engine: Engine, rules: Iterable[Rule], *, reference: bool) -> list[RuleResult]:
    """Judge the rules over the tables that the engine has loaded, in order of rule id."""
    judges = {rule.id: (rule, rule.judge_for(reference=reference)) for rule in rules}
    selected = {rule_id: (rule, judge) for rule_id, (rule, judge) in judges.items() if judge}
    _define_views(engine, [judge for _, judge in selected.values()])
    results: dict[str, RuleResult] = {}
    scans: dict[tuple[str, tuple[str, ...]], dict[str, Holds]] = defaultdict(dict)
    for rule_id, (rule, judge) in selected.items():
        if isinstance(judge, Holds):
            scans[judge.table, rule.assumes][rule_id] = judge
        elif isinstance(judge, Search):
            results[rule_id] = _run_search(engine, rule_id, judge)
    for (table, assumes), group in scans.items():
        results.update(_run_scan(engine, table, assumes, group))
    return [results[rule_id] for rule_id in sorted(results)]


def _define_views(engine: Engine, judges: list[Judge]) -> None:
    tables = {judge.table for judge in judges}
    for view in views_needed(tables):
        engine.define(view, view_sql(view), shared=view in _SHARED)


_SHARED = frozenset({"boundary_known"})


def _run_scan(
    engine: Engine, table: str, assumes: tuple[str, ...], group: Mapping[str, Holds]
) -> dict[str, RuleResult]:
    source = _judged_rows(table, assumes)
    columns = []
    for place, judge in enumerate(group.values()):
        columns.append(_count(f"({judge.when})", f"exercised_{place}"))
        columns.append(_count(_violated(judge), f"violated_{place}"))
    try:
        counts = engine.rows(f"SELECT {', '.join(columns)} FROM {source}")[0]
    except Exception as error:
        if len(group) > 1:
            return _one_by_one(engine, table, assumes, group)
        rule_id = next(iter(group))
        return {rule_id: _broken(rule_id, error)}
    results = {}
    for place, (rule_id, judge) in enumerate(group.items()):
        violations = int(counts[f"violated_{place}"])
        results[rule_id] = RuleResult(
            rule=rule_id,
            exercised=int(counts[f"exercised_{place}"]),
            violations=violations,
            findings=_findings(engine, rule_id, judge, source) if violations else (),
        )
    return results


def _one_by_one(
    engine: Engine, table: str, assumes: tuple[str, ...], group: Mapping[str, Holds]
) -> dict[str, RuleResult]:
    results: dict[str, RuleResult] = {}
    for rule_id, judge in group.items():
        results.update(_run_scan(engine, table, assumes, {rule_id: judge}))
    return results


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


def _findings(engine: Engine, rule_id: str, judge: Holds, source: str) -> tuple[Finding, ...]:
    columns = ", ".join(dict.fromkeys(("op", "topic", "partition", *judge.show)))
    rows = engine.rows(
        f"SELECT {columns} FROM {source} WHERE {_violated(judge)} ORDER BY op LIMIT {FINDINGS_KEPT}"
    )
    return tuple(_finding(rule_id, row, judge.show) for row in rows)


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
    function = partial(search_rows, model=judge.model, budget_states=judge.budget_states)
    try:
        rows = engine.per_key(judge.table, judge.key, function)
    except Exception as error:
        return _broken(rule_id, error)
    bad = sorted((r for r in rows if r["verdict"] == "not-linearizable"), key=lambda r: r["op"])
    return RuleResult(
        rule=rule_id,
        exercised=sum(int(r["operations"]) for r in rows),
        violations=len(bad),
        unknown=sum(r["verdict"] == "unknown" for r in rows),
        findings=tuple(_search_finding(rule_id, r) for r in bad[:FINDINGS_KEPT]),
    )


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
