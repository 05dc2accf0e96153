"""Cycles among transactions: what counts as one, which is told, and what a budget leaves.

A graph is text: transactions as `name@began-ended` (no end: not ok), with `/process` where it
matters, and dependencies as `a wr b` or `a ww b`.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_checkers.cycles import CycleReport, find_cycles
from spark_checkers.engine import InlineEngine

TRANSACTION = re.compile(r"(\d+)@(\d+)-(\d*)(?:/(\d+))?")
DEPENDENCY = re.compile(r"(\d+) (wr|ww) (\d+)")


def searched(
    text: str, *, ww_deps: bool = True, clock: str = "'host'", **budget: Any
) -> CycleReport:
    """What the search finds in a graph."""
    engine = InlineEngine()
    vertices = [
        f"({v}, {v}00, {process or v}, {clock}, {began}, {ended or 'NULL'})"
        for v, began, ended, process in TRANSACTION.findall(text)
    ]
    edges = [f"('{k}', {a}, {b}, 'x', 0, '\"v\"', '\"w\"')" for a, k, b in DEPENDENCY.findall(text)]
    columns = "vertex, op, process, clock, began, ended"
    engine.define(
        "vertices", f"SELECT * FROM (VALUES {', '.join(vertices)}) t({columns})", shared=True
    )
    columns = "kind, source, target, topic, partition, value, next_value"
    engine.define("edges", f"SELECT * FROM (VALUES {', '.join(edges)}) t({columns})", shared=True)
    engine.define("ops", "SELECT 'txn' AS f FROM vertices", shared=True)
    try:
        return find_cycles(engine, "edges", "vertices", ww_deps=ww_deps, **budget)
    finally:
        engine.close()


def cycles(report: CycleReport) -> dict[str, list[list[int]]]:
    return {
        kind: [case.shown().get("cycle") for case in found] for kind, found in report.found.items()
    }


AT_ONCE = "1@0-9 2@0-9 3@0-9 4@0-9 5@0-9 "
ONE_AFTER_ANOTHER = "1@10-19 2@20-29 3@30-39 "


def test_a_cycle_of_writes_is_told_and_nothing_weaker_in_its_knot() -> None:
    report = searched(AT_ONCE + "1 ww 2 2 ww 1 2 wr 3 3 wr 1")

    assert cycles(report) == {"G0": [[2, 1, 2]]}


def test_writes_on_writes_count_only_if_asked_for() -> None:
    report = searched(AT_ONCE + "1 ww 2 2 ww 1 2 wr 3 3 wr 1", ww_deps=False)

    assert cycles(report) == {}


def test_of_several_cycles_in_a_knot_the_shortest_is_told() -> None:
    report = searched(AT_ONCE + "1 wr 2 2 wr 3 3 wr 4 4 wr 1 3 wr 5 5 wr 2")

    assert cycles(report) == {"G1c": [[5, 2, 3, 5]]}


def test_each_knot_has_its_own_cycle() -> None:
    report = searched(AT_ONCE + "1 wr 2 2 wr 1 3 wr 4 4 wr 3 2 wr 3")

    assert cycles(report) == {"G1c": [[2, 1, 2], [4, 3, 4]]}


def test_reading_from_the_future_contradicts_real_time() -> None:
    report = searched(ONE_AFTER_ANOTHER + "3 wr 1")

    assert cycles(report) == {"G1c-realtime": [[3, 1, 3]]}


def test_reading_from_the_past_contradicts_nothing() -> None:
    assert cycles(searched(ONE_AFTER_ANOTHER + "1 wr 3 2 wr 3")) == {}


def test_real_time_may_close_a_cycle_of_several_steps() -> None:
    report = searched("1@0-40 2@0-9 3@20-29 1 wr 2 3 wr 1")

    assert cycles(report) == {"G1c-realtime": [[3, 1, 2, 3]]}


def test_a_transaction_that_is_not_known_to_be_over_precedes_nobody() -> None:
    assert cycles(searched("1@0- 2@0- 3@20-29 1 wr 2 3 wr 1")) == {}


def test_a_cycle_along_a_process_is_one_in_real_time_too() -> None:
    report = searched("1@10-19/7 3@30-39/7 3 wr 1")

    assert cycles(report) == {"G1c-process": [[3, 1, 3]], "G1c-realtime": [[3, 1, 3]]}


def test_times_of_several_clocks_are_not_compared() -> None:
    report = searched(ONE_AFTER_ANOTHER + "3 wr 1", clock="CASE WHEN random() < 2 THEN 'h' END")
    apart = searched("1@10-19 2@20-29 2 wr 1", clock="uuid()")

    assert (list(report.found), list(apart.found)) == (["G1c-realtime"], [])


def test_a_step_says_what_it_rests_on() -> None:
    (case,) = searched(ONE_AFTER_ANOTHER + "3 wr 1").found["G1c-realtime"]

    assert case.words() == '1 polled "v" of x from 3; 3 began at 300, after 1 was over'


def test_without_any_dependency_or_order_the_graph_is_empty() -> None:
    assert list(searched(AT_ONCE + "1 ww 2", ww_deps=False).found) == ["empty-transaction-graph"]
    assert list(searched(ONE_AFTER_ANOTHER + "1 ww 2", ww_deps=False).found) == []


@pytest.mark.parametrize(
    ("graph", "exists"),
    [
        (AT_ONCE + "1 ww 2 2 ww 1", "PL-1-cycle-exists"),
        (AT_ONCE + "1 wr 2 2 wr 1", "PL-2-cycle-exists"),
        (ONE_AFTER_ANOTHER + "3 ww 1", "strong-PL-1-cycle-exists"),
        (ONE_AFTER_ANOTHER + "3 wr 1", "strong-PL-2-cycle-exists"),
    ],
)
def test_a_search_without_budget_says_that_a_cycle_exists_and_that_it_gave_up(
    graph: str, exists: str
) -> None:
    assert list(searched(graph).found) != list(searched(graph, visits=0).found)
    assert set(searched(graph, visits=0).found) == {exists, "cycle-search-timeout"}


def test_what_does_not_fit_the_budget_is_left_out_and_said() -> None:
    knot = AT_ONCE + "1 wr 2 2 wr 3 3 wr 1"

    assert cycles(searched(knot, whole=0, core=10)) == {"G1c": [[3, 1, 2, 3]]}
    assert list(searched(knot, whole=0, core=2).found) == ["cycle-search-timeout"]


def test_a_plain_contradiction_of_real_time_is_told_even_if_the_rest_is_too_large() -> None:
    report = searched(ONE_AFTER_ANOTHER + "3 wr 1 2 wr 1 3 wr 2", whole=0, core=1)

    assert set(report.found) == {"cycle-search-timeout", "G1c-realtime"}


@st.composite
def graphs(draw: st.DrawFn) -> str:
    """Transactions that mostly read from those that began before them, and sometimes do not."""
    size = draw(st.integers(2, 14))
    times = [(n * 10 + draw(st.integers(0, 30)), draw(st.integers(1, 40))) for n in range(size)]
    open_ = st.sampled_from([True, True, True, False])
    text = " ".join(
        f"{n}@{began}-{began + length if draw(open_) else ''}/{draw(st.integers(0, 3))}"
        for n, (began, length) in enumerate(times)
    )
    some = st.integers(0, size - 1)
    pairs = draw(st.lists(st.tuples(some, some, st.booleans()), min_size=1, max_size=24))
    edges = (f"{a} {'wr' if wr else 'ww'} {b}" for a, b, wr in pairs if a != b)
    return f"{text} 0 wr 1 {' '.join(edges)}"


@settings(max_examples=60)
@given(graph=graphs(), ww_deps=st.booleans())
def test_cutting_a_graph_down_first_loses_no_cycle(graph: str, ww_deps: bool) -> None:
    plain, cut = (searched(graph, ww_deps=ww_deps, whole=size) for size in (10**6, 0))

    assert cycles(plain) == cycles(cut)
