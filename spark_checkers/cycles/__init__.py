"""Cycles among transactions that depend on each other, by their usual names.

    G0            every step: a write stands behind a write
    G1c           the same, and at least one step: a poll of what another sent
    G0-process    G0 with steps along the order of a process
    G1c-process   G1c with such steps
    G0-realtime   G0 with steps from a transaction that was over to one that began later
    G1c-realtime  G1c with such steps

In each knot at most one cycle of a kind is named, a shortest one, and none where a stronger kind
was: G0 is stronger than all, G1c and G0 with an order are stronger than G1c with that order. A
cycle along a process is one in real time as well, and is named as both.

`*-cycle-exists` stands for a kind of which a cycle certainly exists though the search named none
within its budget; `cycle-search-timeout` says that the search gave up somewhere;
`empty-transaction-graph` that nothing depends on anything, not even in time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from spark_checkers.cycles.cases import Case, Cycle, Step, Unfinished
from spark_checkers.cycles.core import cyclic_core, whole_graph
from spark_checkers.cycles.graph import PROCESS, REALTIME, WR, WW, Graph, knots
from spark_checkers.cycles.shortest import KINDS, Budget, Kind, Steps, shortest_cycle
from spark_checkers.kernel import Kernel

__all__ = ["Case", "CycleReport", "find_cycles"]

WHOLE = 20_000
CORE = 200_000
VISITS = 2_000_000
EXPLAINED = 64

_STRONGER = {
    "G0": (),
    "G1c": ("G0",),
    "G0-process": ("G0",),
    "G1c-process": ("G0", "G1c", "G0-process"),
    "G0-realtime": ("G0",),
    "G1c-realtime": ("G0", "G1c", "G0-realtime"),
}
_EXISTS = {
    "G0": ("PL-1-cycle-exists", "read-uncommitted", ("ww",)),
    "G1c": ("PL-2-cycle-exists", "read-committed", ("ww", "wr")),
    "G0-realtime": ("strong-PL-1-cycle-exists", "strong-read-uncommitted", ("ww", "realtime")),
    "G1c-realtime": ("strong-PL-2-cycle-exists", "strong-read-committed", ("ww", "wr", "realtime")),
}
EMPTY = "empty-transaction-graph"
TIMEOUT = "cycle-search-timeout"


@dataclass(slots=True, kw_only=True)
class CycleReport:
    """The cases by name, and how many dependencies there were to look at."""

    dependencies: dict[str, int]
    operations: int
    found: dict[str, list[Case]] = field(default_factory=dict)

    def exercised(self, kind: str) -> int:
        """How often a cycle of this kind could have shown itself."""
        if kind == EMPTY:
            return self.operations
        if kind.startswith("G0") or "PL-1" in kind:
            return self.dependencies.get(WW, 0)
        return sum(self.dependencies.values())

    def add(self, kind: str, case: Case) -> None:
        """Note a case."""
        self.found.setdefault(kind, []).append(case)


def find_cycles(
    kernel: Kernel,
    table: str,
    vertices: str,
    *,
    ww_deps: bool,
    whole: int = WHOLE,
    core: int = CORE,
    visits: int = VISITS,
) -> CycleReport:
    """Search the dependencies in `table`; those of writes on writes count with `ww_deps` only.

    A graph of at most `whole` transactions and dependencies is fetched as it is, of a larger one at
    most `core` transactions; each knot gets `visits` visits.
    """
    kinds = (WW, WR) if ww_deps else (WR,)
    counted = kernel.rows(f"SELECT kind, count(*) AS times FROM {table} GROUP BY kind")
    (about,) = kernel.rows(_ABOUT.format(vertices=vertices))
    (all_of_them,) = kernel.rows(_OPERATIONS)
    report = CycleReport(
        dependencies={row["kind"]: int(row["times"]) for row in counted if row["kind"] in kinds},
        operations=int(all_of_them["operations"]),
    )
    timed = about["clocks"] == 1
    if not report.dependencies:
        ordered = timed and about["first_end"] is not None and about["last_begin"] is not None
        if report.operations and not (ordered and about["first_end"] < about["last_begin"]):
            text = "no transaction depends on another, nor began after another was over"
            report.add(EMPTY, Unfinished(op=0, text=text, facts={}))
        return report
    if int(about["transactions"]) + sum(report.dependencies.values()) <= whole:
        left = whole_graph(kernel, table, vertices, kinds, timed=timed)
    else:
        left = cyclic_core(kernel, table, vertices, kinds, timed=timed, budget=core)
    if left.left_out:
        text = f"{left.left_out} transactions may lie on cycles and were not searched"
        report.add(TIMEOUT, Unfinished(op=0, text=text, facts={"scc-size": left.left_out}))
    found: list[tuple[str, Steps]] = []
    for knot in knots(left.graph, kinds, REALTIME):
        found += _search_knot(left.graph.within(knot), kinds, visits, report)
    _explain(kernel, table, left.graph, found, report)
    return report


_ABOUT = """
SELECT count(*) AS transactions, count(DISTINCT t.clock) AS clocks, min(t.ended) AS first_end,
  max(CASE WHEN t.vertex <> t.op THEN t.began END) AS last_begin
FROM {vertices} t
"""
_OPERATIONS = """
SELECT count(*) AS operations FROM ops
WHERE f IN ('send', 'poll', 'txn', 'assign', 'subscribe', 'crash')
"""


def _search_knot(
    graph: Graph, kinds: tuple[str, ...], visits: int, report: CycleReport
) -> list[tuple[str, Steps]]:
    """The cycles of a knot by kind, worst first; notes in the report what it gave up on."""
    found: dict[str, Steps] = {}
    looked_for: list[str] = []
    budget = Budget(visits)
    for kind in KINDS:
        if kind.first not in kinds or any(name in found for name in _STRONGER[kind.name]):
            continue
        # Such a cycle exists where a knot of its dependencies and its order has a first step.
        parts = (graph.within(part) for part in knots(graph, kind.walks, kind.order))
        part = next((p for p in parts if next(p.pairs(kind.first), None) is not None), None)
        if part is None:
            looked_for.append(kind.name)
            continue
        steps = shortest_cycle(part, kind, budget)
        if steps is not None:
            found[kind.name] = steps
        elif kind.name in _EXISTS:
            _note_existence(kind, part, report)
        if budget.exhausted:
            _note_timeout(kind, graph, looked_for, report)
            break
        looked_for.append(kind.name)
    return list(found.items())


def _note_existence(kind: Kind, part: Graph, report: CycleReport) -> None:
    name, model, subgraph = _EXISTS[kind.name]
    members = sorted(part.transactions)
    text = f"a {kind.name} lies among {len(members)} transactions from {members[0]} on"
    facts = {
        "not": model,
        "subgraph": ["union", *subgraph],
        "scc-size": len(members),
        "scc": members[:EXPLAINED],
    }
    report.add(name, Unfinished(op=members[0], text=text, facts=facts))


def _note_timeout(kind: Kind, graph: Graph, looked_for: list[str], report: CycleReport) -> None:
    facts = {
        "anomaly-spec-type": kind.name,
        "does-not-contain": looked_for,
        "scc-size": len(graph.transactions),
    }
    text = f"gave up on {kind.name} among {len(graph.transactions)} transactions"
    report.add(TIMEOUT, Unfinished(op=min(graph.transactions), text=text, facts=facts))


def _explain(
    kernel: Kernel,
    table: str,
    graph: Graph,
    found: Iterable[tuple[str, Steps]],
    report: CycleReport,
) -> None:
    """Turn steps into cases; the values behind dependencies are fetched for the first few only."""
    by_kind: dict[str, list[Steps]] = {}
    for kind, steps in found:
        by_kind.setdefault(kind, []).append(steps)
    for kind, cycles in by_kind.items():
        shown = sorted(cycles, key=lambda steps: min(step[1] for step in steps))
        values = _values(kernel, table, [s for steps in shown[:EXPLAINED] for s in steps])
        for steps in shown:
            explained = tuple(
                Step(kind=k, source=a, target=b, facts=_facts(graph, k, a, b, values))
                for k, a, b in steps
            )
            report.add(kind, Cycle(steps=explained))


Value = dict[tuple[str, int, int], dict[str, object]]


def _values(kernel: Kernel, table: str, steps: Steps) -> Value:
    """The first value of each log that each dependency rests on."""
    wanted = {step for step in steps if step[0] in (WW, WR)}
    if not wanted:
        return {}
    sources = ", ".join(str(source) for source in sorted({s for _, s, _ in wanted}))
    targets = ", ".join(str(target) for target in sorted({t for _, _, t in wanted}))
    rows = kernel.rows(
        f"SELECT kind, source, target, topic, partition, value, next_value FROM {table}"
        f" WHERE source IN ({sources}) AND target IN ({targets})"
        " ORDER BY topic, partition, value, next_value NULLS LAST"
    )
    values: Value = {}
    for row in rows:
        step = (row.pop("kind"), row.pop("source"), row.pop("target"))
        values.setdefault(step, row)
    return values


def _facts(graph: Graph, kind: str, source: int, target: int, values: Value) -> dict[str, object]:
    if kind == PROCESS:
        return {"process": graph.transactions[source].process}
    if kind == REALTIME:
        return {"ended": source, "began": graph.transactions[target].op}
    nothing: dict[str, object] = {"topic": None, "value": None, "next_value": None}
    return values.get((kind, source, target), nothing)
