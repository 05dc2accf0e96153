"""All that is asked about one shard: rules into queries, queries into results.

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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from string import Formatter

from harness.rules import LEGAL_PREFIX, Cycles, Finding, Holds, Judge, Rule, RuleResult, Search
from spark_checkers.cycle_rules import broken_result, judge_cycles, nothing_transacted
from spark_checkers.kernel import Kernel, Row
from spark_checkers.linearizability import LinearizabilityError, search_rows
from spark_checkers.pace import Pace, Progress
from spark_checkers.places import HistoryBatch, place_of
from spark_checkers.scans import OF_A_LOG, Claim, Scan
from spark_checkers.view_catalogue import (
    base_tables,
    is_computed_once,
    tables_of,
    view_sql,
    views_needed,
)

FINDINGS_KEPT = 9
UNUSABLE = "unusable"
Results = dict[int, list[RuleResult]]
_BROKEN_ASSUMPTIONS = "SELECT DISTINCT assumption FROM fault_windows WHERE assumption IS NOT NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """By which rules the histories in the tables are judged, and how much of it is told.

    With `ww_deps` cycles rest on the order of writes too. Of the violations of a rule the first
    ones are `kept` as findings.
    """

    rules: tuple[Rule, ...]
    reference: bool
    beside: HistoryBatch
    kept: int
    ww_deps: bool = False

    @property
    def judges(self) -> dict[str, Judge]:
        """By rule, who judges it."""
        found = {r.id: r.judge_for(reference=self.reference) for r in self.rules}
        return {rule: judge for rule, judge in found.items() if judge is not None}

    @property
    def reads(self) -> set[str]:
        """The silver tables that this finally rests on."""
        return base_tables({t for judge in self.judges.values() for t in tables_of(judge)}) | {
            "fault_windows"
        }


def judge_shard(kernel: Kernel, asked: Asked, progress: Progress = lambda text: None) -> Results:
    """The results of each history, as far as the shard of the kernel shows them."""
    judges, beside = asked.judges, asked.beside
    cycles = {rule: judge for rule, judge in judges.items() if isinstance(judge, Cycles)}
    read = [judge for judge in judges.values() if beside.one or not isinstance(judge, Cycles)]
    progress("building views")
    define_views(kernel, {table for judge in read for table in judge.tables})
    results: Results = {number: [] for number in beside.numbers}
    counted = _count_all(kernel, _scans(kernel, asked, judges), progress)
    for number, result in _with_findings(kernel, counted, asked.kept):
        results[number].append(result)
    for rule, judge in judges.items():
        if isinstance(judge, Search):
            progress(f"searching orders for {rule}")
            for number, result in _run_search(kernel, rule, judge, asked):
                results[number].append(result)
    for found in results.values():
        # For cycles the graph of one history is searched as a whole.
        if beside.one:
            found += judge_cycles(kernel, cycles, ww_deps=asked.ww_deps, kept=asked.kept)
        else:
            found += nothing_transacted(cycles)
    return results


def _scans(kernel: Kernel, asked: Asked, judges: dict[str, Judge]) -> list[Scan]:
    broken = _broken_assumptions(kernel, asked.rules)
    tables: dict[str, list[Claim]] = defaultdict(list)
    for rule in asked.rules:
        judge = judges.get(rule.id)
        if isinstance(judge, Holds):
            tables[judge.table].append(Claim(rule.id, judge, _excuses(rule, broken)))
    first = kernel.shard.first
    return [Scan(table, tuple(claims), asked.beside, first) for table, claims in tables.items()]


def define_views(kernel: Kernel, tables: set[str]) -> None:
    """Define the tables that are views, with all that they stand on and that is not there yet."""
    for view in views_needed(tables):
        if view not in kernel.defined:
            kernel.define(view, view_sql(view), shared=is_computed_once(view))


def _broken_assumptions(kernel: Kernel, rules: Iterable[Rule]) -> frozenset[str]:
    if not any(rule.assumes for rule in rules):
        return frozenset()
    return frozenset(str(row["assumption"]) for row in kernel.rows(_BROKEN_ASSUMPTIONS))


def _excuses(rule: Rule, broken: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(broken.intersection(rule.assumes)))


_Counted = list[tuple[Scan, dict[int, list[RuleResult]]]]


def _count_all(kernel: Kernel, scans: list[Scan], progress: Progress) -> _Counted:
    counted: _Counted = []
    spoiled: list[Scan] = []
    answers = kernel.answers([scan.counts for scan in scans])
    pace = Pace(progress, "groups of rules judged")
    for done, (scan, answer) in enumerate(zip(scans, answers, strict=True), start=1):
        pace(done, len(scans))
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
    return counted + (_count_all(kernel, spoiled, progress) if spoiled else [])


def _with_findings(
    kernel: Kernel, counted: _Counted, kept: int
) -> Iterator[tuple[int, RuleResult]]:
    places = [
        sorted({n for results in each.values() for n, r in enumerate(results) if r.violations})
        for _, each in counted
    ]
    found = [(scan, seen) for (scan, _), seen in zip(counted, places, strict=True) if seen]
    define_views(kernel, {scan.told_from for scan, _ in found})
    answers = _violating_rows(kernel, found, kept)
    for (scan, each), violated in zip(counted, places, strict=True):
        answer = next(answers) if violated else {}
        rows: dict[tuple[int, int], list[Row]] = defaultdict(list)
        for place, told in answer.items():
            for row in [] if isinstance(told, Exception) else told:
                number = int(row["history"])
                rows[number, place].append(scan.beside.restored(number, row))
        for number, results in each.items():
            for place, result in enumerate(results):
                told = answer.get(place, [])
                if isinstance(told, Exception):
                    broken = broken_result(result.rule, told).broken
                    yield number, replace(result, broken=broken) if result.violations else result
                    continue
                judge = scan.claims[place].judge
                shown = (_finding(result.rule, row, judge) for row in rows[number, place])
                yield number, replace(result, findings=tuple(shown))


_Told = dict[int, list[Row] | Exception]
"""By the place of a claim, rows that violate it, or what kept them from being told."""


def _violating_rows(
    kernel: Kernel, found: list[tuple[Scan, list[int]]], kept: int
) -> Iterator[_Told]:
    """The first violating rows of each scan. Where its claims cannot be asked together, each is
    asked alone, so that a bad one does not spoil the others."""
    answers = kernel.answers([scan.evidence(seen, kept) for scan, seen in found])
    for (scan, seen), answer in zip(found, answers, strict=True):
        if isinstance(answer, Exception):
            single = scan.single()
            alone = kernel.answers([single[place].evidence([0], kept) for place in seen])
            yield dict(zip(seen, alone, strict=True))
            continue
        rows: dict[int, list[Row]] = defaultdict(list)
        for row in answer:
            rows[int(row["claim"])].append(row)
        yield {place: rows[place] for place in seen}


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
    kernel: Kernel, rule_id: str, judge: Search, asked: Asked
) -> Iterator[tuple[int, RuleResult]]:
    beside = asked.beside
    search = partial(_search_key, model=judge.model)
    function = search if beside.one else partial(_search_beside, search=search)
    try:
        where = "TRUE" if kernel.shard.first else OF_A_LOG
        rows = kernel.per_key(judge.table, judge.key, function, where)
    except Exception as error:
        yield from ((number, broken_result(rule_id, error)) for number in beside.numbers)
        return
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        number = beside.number_of(row)
        found[number].append(beside.restored(number, row))
    yield from (
        (number, _search_result(rule_id, found[number], asked.kept)) for number in beside.numbers
    )


def _search_result(rule_id: str, rows: list[Row], kept: int) -> RuleResult:
    unusable = sorted(r["explanation"] for r in rows if r["verdict"] == UNUSABLE)
    bad = sorted((r for r in rows if r["verdict"] == "not-linearizable"), key=lambda r: r["op"])
    return RuleResult(
        rule=rule_id,
        exercised=sum(int(r["operations"]) for r in rows),
        violations=len(bad),
        unknown=sum(r["verdict"] == "unknown" for r in rows),
        findings=tuple(_search_finding(rule_id, r) for r in bad[:kept]),
        broken=unusable[0] if unusable else "",
    )


def _search_key(rows: list[Row], *, model: str) -> list[Row]:
    """Search one key; what cannot be searched is a result too, and no harm to other keys."""
    nothing: Row = {"op": None, "operations": 0, "explored": 0, "prefix": [], "verdict": UNUSABLE}
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
        shown={LEGAL_PREFIX: row["prefix"]},
    )
