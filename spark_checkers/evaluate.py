"""Rules into queries, queries into results; the same on every engine.

Rules on one table become one scan: a single aggregate that yields, for each of them, how often it
was exercised and how often it was violated. A second scan fetches the first few rows in order of
`op` for all rules of the table that were violated; of a table without violations no row is fetched.
A rule whose query fails is *broken*, and no other rule suffers.

The tables may hold many histories side by side (see `places`): then every scan is grouped by
history, and each gets results of its own, as if it had been judged alone.

A rule is not judged on rows that overlap a window in which one of its assumptions was broken. Only
assumptions that some window of the history breaks are looked at.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from string import Formatter

from harness.rules import Cycles, Finding, Holds, Judge, Rule, RuleResult, Search
from spark_checkers.cycle_rules import broken_result, judge_cycles, nothing_transacted
from spark_checkers.engine import Engine, Row
from spark_checkers.linearizability import LinearizabilityError, search_rows
from spark_checkers.places import ALONE, HistoryBatch, place_of
from spark_checkers.scans import Claim, Scan
from spark_checkers.view_catalogue import is_computed_once, view_sql, views_needed

FINDINGS_KEPT = 9
UNUSABLE = "unusable"
Progress = Callable[[str], None]
_BROKEN_ASSUMPTIONS = "SELECT DISTINCT assumption FROM fault_windows WHERE assumption IS NOT NULL"


def evaluate(
    engine: Engine,
    rules: Iterable[Rule],
    *,
    reference: bool,
    circumstances: Collection[str] = (),
    kept: int = FINDINGS_KEPT,
    progress: Progress = lambda text: None,
) -> list[RuleResult]:
    """Judge the rules over the tables that the engine has loaded, in order of rule id.

    Under the circumstance `ww-deps` cycles rest on the order of writes too. Of the violations of a
    rule the first ones are `kept` as findings.
    """
    asked = _sorted_by_judge(rules, reference)
    results = _judge_each(engine, asked, ALONE, kept, progress)[0]
    results += judge_cycles(engine, asked.cycles, ww_deps="ww-deps" in circumstances, kept=kept)
    return sorted(results, key=lambda result: result.rule)


def evaluate_each(
    engine: Engine,
    rules: Iterable[Rule],
    numbers: Sequence[int],
    *,
    reference: bool,
    kept: int = FINDINGS_KEPT,
    progress: Progress = lambda text: None,
) -> dict[int, list[RuleResult]]:
    """Judge histories that stand side by side in the tables, each by itself, by their numbers.

    None of them has micro-operations: for cycles the graph of one history is searched as a whole.
    """
    asked = _sorted_by_judge(rules, reference)
    results = _judge_each(engine, asked, HistoryBatch(tuple(numbers)), kept, progress)
    for found in results.values():
        found += nothing_transacted(asked.cycles)
        found.sort(key=lambda result: result.rule)
    return results


@dataclass(frozen=True, slots=True)
class _Asked:
    """The rules by how they are judged."""

    tables: dict[str, list[Rule]]
    claims: dict[str, Holds]
    searches: dict[str, Search]
    cycles: dict[str, Cycles]


def _sorted_by_judge(rules: Iterable[Rule], reference: bool) -> _Asked:
    tables: dict[str, list[Rule]] = defaultdict(list)
    claims: dict[str, Holds] = {}
    searches: dict[str, Search] = {}
    cycles: dict[str, Cycles] = {}
    for rule in rules:
        judge = rule.judge_for(reference=reference)
        if isinstance(judge, Holds):
            tables[judge.table].append(rule)
            claims[rule.id] = judge
        elif isinstance(judge, Search):
            searches[rule.id] = judge
        elif isinstance(judge, Cycles):
            cycles[rule.id] = judge
    return _Asked(tables, claims, searches, cycles)


def _judge_each(
    engine: Engine, asked: _Asked, beside: HistoryBatch, kept: int, progress: Progress
) -> dict[int, list[RuleResult]]:
    """The results of each history for all rules but those about cycles."""
    judges: list[Judge] = [*asked.claims.values(), *asked.searches.values()]
    judges += asked.cycles.values() if beside.one else []
    progress("building views")
    _define_views(engine, {table for judge in judges for table in judge.tables})
    broken = _broken_assumptions(
        engine, [rule for group in asked.tables.values() for rule in group]
    )
    scans = [
        Scan(
            table,
            tuple(Claim(r.id, asked.claims[r.id], _excuses(r, broken)) for r in group),
            beside,
        )
        for table, group in asked.tables.items()
    ]
    results: dict[int, list[RuleResult]] = {number: [] for number in beside.numbers}
    for number, result in _with_findings(engine, _count_all(engine, scans, progress), kept):
        results[number].append(result)
    for rule_id, judge in asked.searches.items():
        progress(f"searching orders for {rule_id}")
        for number, result in _run_search(engine, rule_id, judge, beside):
            results[number].append(result)
    return results


def _define_views(engine: Engine, tables: set[str], known: Collection[str] = ()) -> None:
    """Define the tables that are views, with all that they stand on and that is not yet known."""
    there = views_needed(set(known))
    for view in views_needed(tables):
        if view not in there:
            engine.define(view, view_sql(view), shared=is_computed_once(view))


def _broken_assumptions(engine: Engine, rules: list[Rule]) -> frozenset[str]:
    if not any(rule.assumes for rule in rules):
        return frozenset()
    return frozenset(str(row["assumption"]) for row in engine.rows(_BROKEN_ASSUMPTIONS))


def _excuses(rule: Rule, broken: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(broken.intersection(rule.assumes)))


_Counted = list[tuple[Scan, dict[int, list[RuleResult]]]]


def _count_all(engine: Engine, scans: list[Scan], progress: Progress) -> _Counted:
    counted: _Counted = []
    spoiled: list[Scan] = []
    answers = engine.answers([scan.counts for scan in scans])
    for done, (scan, answer) in enumerate(zip(scans, answers, strict=True), start=1):
        progress(f"{done} of {len(scans)} groups of rules, last {scan.table}")
        try:
            if isinstance(answer, Exception):
                raise answer
            counted.append((scan, scan.results(answer)))
        except Exception as error:
            if len(scan.claims) > 1:
                spoiled += scan.single()
                continue
            result = broken_result(scan.claims[0].rule, error)
            counted.append((scan, {number: [result] for number in scan.beside.numbers}))
    return counted + (_count_all(engine, spoiled, progress) if spoiled else [])


def _with_findings(
    engine: Engine, counted: _Counted, kept: int
) -> Iterator[tuple[int, RuleResult]]:
    places = [
        sorted({n for results in each.values() for n, r in enumerate(results) if r.violations})
        for _, each in counted
    ]
    found = [(scan, seen) for (scan, _), seen in zip(counted, places, strict=True) if seen]
    known = {scan.table for scan, _ in counted}
    _define_views(engine, {scan.told_from for scan, _ in found}, known=known)
    answers = engine.answers([scan.evidence(seen, kept) for scan, seen in found])
    for (scan, each), violated in zip(counted, places, strict=True):
        answer = next(answers) if violated else []
        rows: dict[tuple[int, int], list[Row]] = defaultdict(list)
        for row in [] if isinstance(answer, Exception) else answer:
            number = int(row["history"])
            rows[number, int(row["claim"])].append(scan.beside.restored(number, row))
        for number, results in each.items():
            for place, result in enumerate(results):
                if not result.violations:
                    yield number, result
                elif isinstance(answer, Exception):
                    broken = broken_result(result.rule, answer).broken
                    yield number, replace(result, broken=broken)
                else:
                    judge = scan.claims[place].judge
                    told = tuple(_finding(result.rule, row, judge) for row in rows[number, place])
                    yield number, replace(result, findings=told)


def _finding(rule_id: str, row: Row, judge: Holds) -> Finding:
    shown = {name: row[name] for name in judge.show}
    return Finding(
        rule=rule_id,
        op=int(row["op"]),
        topic=row["topic"],
        partition=None if row["partition"] is None else int(row["partition"]),
        seen=_in_words(judge.words, shown),
        shown=shown,
    )


def _in_words(words: tuple[str, ...], shown: Row) -> str:
    if not words:
        return ", ".join(f"{name}={_shown(value)}" for name, value in shown.items())
    known = {name: _shown(value) for name, value in shown.items() if value is not None}
    named = ((clause, [field for _, field, *_ in Formatter().parse(clause)]) for clause in words)
    told = [clause for clause, fields in named if known.keys() >= {f for f in fields if f}]
    return "; ".join(clause.format_map(known) for clause in told)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _run_search(
    engine: Engine, rule_id: str, judge: Search, beside: HistoryBatch
) -> Iterator[tuple[int, RuleResult]]:
    search = partial(_search_key, model=judge.model)
    function = search if beside.one else partial(_search_beside, search=search)
    try:
        rows = engine.per_key(judge.table, judge.key, function)
    except Exception as error:
        yield from ((number, broken_result(rule_id, error)) for number in beside.numbers)
        return
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        number = beside.number_of(row)
        found[number].append(beside.restored(number, row))
    yield from ((number, _search_result(rule_id, found[number])) for number in beside.numbers)


def _search_result(rule_id: str, rows: list[Row]) -> RuleResult:
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


def _search_key(rows: list[Row], *, model: str) -> list[Row]:
    """Search one key; what cannot be searched is a result too, and no harm to other keys."""
    nothing = {"op": None, "operations": 0, "explored": 0, "verdict": UNUSABLE}
    try:
        return search_rows(rows, model=model)
    except LinearizabilityError as error:
        return [{**nothing, "explanation": str(error)}]
    except Exception as error:
        return [{**nothing, "explanation": broken_result("", error).broken}]


def _search_beside(rows: list[Row], *, search: Callable[[list[Row]], list[Row]]) -> list[Row]:
    """Search one key of a history that stands beside others, in its own words."""
    place = place_of(rows[0]["topic"])
    return search([place.restored_row(row) for row in rows])


def _search_finding(rule_id: str, row: Row) -> Finding:
    return Finding(
        rule=rule_id,
        op=int(row["op"]),
        topic=row["topic"],
        partition=int(row["partition"]),
        seen=str(row["explanation"]),
    )
