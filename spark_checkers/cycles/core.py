"""The part of a large graph in which cycles can lie at all, found by queries.

Every transaction gets the *earliest* instant at which it can have taken effect: not before it
began, and not before the earliest instant of what it depends on. Dependencies never lead to an
earlier instant, and neither does real time, unless a transaction's earliest instant lies behind its
end. So a cycle either stays at one instant, among dependencies that lead from an instant to the
same (`ties`), or each instant it passes lies inside the span from the end of such a late
transaction to its earliest instant: in one of the `windows` that overlapping spans make up.

Instants are raised along dependencies in rounds, each one query. A dependency along which the last
round did not raise anything any more opens a span too, so stopping early costs only larger windows.
What is left is small in any history that is not broken throughout; what does not fit the budget is
left out, and said. A graph that is small to begin with is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spark_checkers.cycles.graph import Graph, Transaction
from spark_checkers.kernel import Kernel, Row

ROUNDS = 24
WINDOWS = 64


@dataclass(slots=True, kw_only=True)
class Core:
    """What could not be ruled out; `left_out` counts transactions that did not fit the budget."""

    graph: Graph
    left_out: int


def whole_graph(
    kernel: Kernel, table: str, vertices: str, kinds: tuple[str, ...], *, timed: bool
) -> Core:
    """All transactions and dependencies of these kinds."""
    wanted = ", ".join(f"'{kind}'" for kind in kinds)
    core = Core(graph=Graph(timed=timed), left_out=0)
    _collect(
        core.graph,
        kernel.rows(f"SELECT vertex, op, process, began, ended FROM {vertices}"),
        kernel.rows(f"SELECT kind, source, target FROM {table} WHERE kind IN ({wanted})"),
    )
    return core


def cyclic_core(
    kernel: Kernel, table: str, vertices: str, kinds: tuple[str, ...], *, timed: bool, budget: int
) -> Core:
    """The transactions and dependencies of these kinds that may lie on a cycle."""
    wanted = ", ".join(f"'{kind}'" for kind in kinds)
    began = "began" if timed else "CAST(0 AS BIGINT)"
    ended = "ended" if timed else "CAST(NULL AS BIGINT)"
    kernel.define(
        "cycle_edges",
        f"SELECT DISTINCT kind, source, target FROM {table} WHERE kind IN ({wanted})",
        shared=True,
    )
    kernel.define(
        "cycle_instants_0",
        f"SELECT vertex, {began} AS began, {ended} AS ended, {began} AS earliest, TRUE AS raised"
        f" FROM {vertices}",
        shared=True,
    )
    instants = _raise_instants(kernel)
    kernel.define("cycle_placed", _PLACED.format(instants=instants), shared=True)
    ties, untied = _peeled_ties(kernel, budget)
    windows, outside = _windows_within(kernel, instants, budget)
    kernel.define("cycle_backwards", _BACKWARDS, shared=True)
    kernel.define("cycle_core", _core_query(instants, ties, windows), shared=True)
    core = Core(graph=Graph(timed=timed), left_out=untied + outside)
    _collect(
        core.graph,
        kernel.rows(
            "SELECT t.vertex, t.op, t.process, t.began, t.ended"
            f" FROM {vertices} t JOIN cycle_core c ON t.vertex = c.vertex"
        ),
        kernel.rows(
            "SELECT e.kind, e.source, e.target FROM cycle_edges e"
            " JOIN cycle_core s ON e.source = s.vertex JOIN cycle_core t ON e.target = t.vertex"
        ),
    )
    return core


def _raise_instants(kernel: Kernel) -> str:
    """The name of the table of instants after the last round."""
    name = "cycle_instants_0"
    for number in range(1, ROUNDS + 1):
        following = f"cycle_instants_{number % 2}_next"
        kernel.define(following, _ROUND.format(instants=name), shared=True)
        name = following
        if not kernel.rows(f"SELECT 1 AS one FROM {name} WHERE raised LIMIT 1"):
            break
    return name


_ROUND = """
SELECT i.vertex, i.began, i.ended,
  greatest(i.earliest, coalesce(r.earliest, i.earliest)) AS earliest,
  coalesce(r.earliest > i.earliest, FALSE) AS raised
FROM {instants} i
LEFT JOIN (
  SELECT e.target AS vertex, max(s.earliest) AS earliest
  FROM cycle_edges e JOIN {instants} s ON e.source = s.vertex
  WHERE s.raised GROUP BY e.target
) r ON i.vertex = r.vertex
"""
_PLACED = """
SELECT e.kind, e.source, e.target, s.earliest AS source_at, t.earliest AS target_at,
  s.began AS source_began, t.ended AS target_ended
FROM cycle_edges e
JOIN {instants} s ON e.source = s.vertex
JOIN {instants} t ON e.target = t.vertex
"""


def _peeled_ties(kernel: Kernel, budget: int) -> tuple[str, int]:
    """Dependencies that lead from an instant to the same, without those that lead nowhere; and how
    many there are, if they do not fit the budget."""
    name, left = "cycle_ties", -1
    kernel.define(
        name,
        "SELECT source, target FROM cycle_placed WHERE source_at = target_at",
        shared=True,
    )
    for number in range(ROUNDS):
        before, left = left, _count(kernel, name)
        if left in (0, before):
            break
        following = f"cycle_ties_{number % 2}"
        kernel.define(following, _PEEL.format(ties=name), shared=True)
        name = following
    if left <= budget:
        return name, 0
    kernel.define("cycle_no_ties", f"SELECT source, target FROM {name} WHERE FALSE", shared=True)
    return "cycle_no_ties", left


_PEEL = """
SELECT e.source, e.target FROM {ties} e
WHERE e.source IN (SELECT target FROM {ties}) AND e.target IN (SELECT source FROM {ties})
"""


def _windows_within(kernel: Kernel, instants: str, budget: int) -> tuple[list[Row], int]:
    """The windows to search, shortest first, and how many transactions lie in the others."""
    kernel.define("cycle_windows", _WINDOWS.format(instants=instants, most=WINDOWS), shared=True)
    counted = kernel.rows(_WINDOW_SIZES.format(instants=instants))
    chosen: list[Row] = []
    left_out = 0
    for window in sorted(counted, key=lambda row: (row["members"], row["since"])):
        if window["members"] <= budget:
            budget -= window["members"]
            chosen.append(window)
        else:
            left_out += window["members"]
    return chosen, left_out


_WINDOWS = """
WITH spans AS (
  SELECT ended AS low, earliest AS high FROM {instants} WHERE earliest > ended
  UNION ALL
  SELECT target_at, source_at FROM cycle_placed WHERE source_at > target_at
),
opened AS (
  SELECT low, high, CASE WHEN low <= max(high) OVER (ORDER BY low, high
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) THEN 0 ELSE 1 END AS opens
  FROM spans
),
numbered AS (
  SELECT low, high, sum(opens) OVER (ORDER BY low, high
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS number
  FROM opened
)
SELECT min(low) AS since, max(high) AS until FROM numbered GROUP BY number
ORDER BY until - since, since LIMIT {most}
"""
_WINDOW_SIZES = """
SELECT w.since, w.until, count(*) AS members
FROM cycle_windows w JOIN {instants} i ON i.earliest BETWEEN w.since AND w.until
GROUP BY w.since, w.until
"""


def _collect(graph: Graph, transactions: list[Row], dependencies: list[Row]) -> None:
    for row in sorted(transactions, key=lambda row: int(row["vertex"])):
        graph.transactions[row["vertex"]] = Transaction(**row)
    for row in sorted(dependencies, key=lambda row: (row["source"], row["target"])):
        graph.link(row["kind"], row["source"], row["target"])


def _core_query(instants: str, ties: str, windows: Iterable[Row]) -> str:
    spans = " OR ".join(f"earliest BETWEEN {w['since']} AND {w['until']}" for w in windows)
    return f"""
SELECT vertex FROM {instants} WHERE {spans or "FALSE"}
UNION SELECT source FROM {ties} UNION SELECT target FROM {ties}
UNION SELECT source FROM cycle_backwards UNION SELECT target FROM cycle_backwards
"""


# The target was over before the source began: two transactions that make a cycle by themselves.
_BACKWARDS = f"""
SELECT source, target FROM cycle_placed WHERE target_ended < source_began
ORDER BY source, target LIMIT {WINDOWS}
"""


def _count(kernel: Kernel, table: str) -> int:
    return int(kernel.rows(f"SELECT count(*) AS rows FROM {table}")[0]["rows"])
