"""Views bring rows together only by what tells histories apart.

Rows are joined, grouped, numbered and made distinct by at least one column that differs from
history to history (`spark_checkers.places`); otherwise histories judged together would mix.
DuckDB's parser is asked what a view does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from spark_checkers.places import MARKED, NUMBERED
from spark_checkers.view_catalogue import view_names, view_sql

FINGERPRINTS = {"log", "print", "send_print", "producer_print"}
"""Columns that hold one number for several columns, the topic among them."""
APART = MARKED | NUMBERED | FINGERPRINTS
AGGREGATES = {"avg", "count", "count_star", "max", "max_by", "min", "min_by", "sum"}


def parsed(sql: str) -> Any:
    (text,) = duckdb.execute("SELECT json_serialize_sql(?)", [sql]).fetchone() or ("{}",)
    return json.loads(text)["statements"][0]["node"]


def inside(node: Any, *, selects: bool = True) -> Iterator[dict[str, Any]]:
    """The node and all below it; without other selects if told so."""
    if isinstance(node, list):
        for item in node:
            yield from inside(item, selects=selects)
    elif isinstance(node, dict):
        yield node
        for child in node.values():
            if selects or not (isinstance(child, dict) and child.get("type") == "SELECT_NODE"):
                yield from inside(child, selects=selects)


def names(node: Any) -> set[str]:
    return {n["column_names"][-1] for n in inside(node) if n.get("type") == "COLUMN_REF"}


def equalities(condition: Any) -> set[str]:
    """Columns that a condition makes equal to others, whatever else it says."""
    if not isinstance(condition, dict):
        return set()
    if condition["type"] == "CONJUNCTION_AND":
        return {name for child in condition["children"] for name in equalities(child)}
    sides = [condition.get(side) or {} for side in ("left", "right")]
    columns = [side["column_names"][-1] for side in sides if side.get("type") == "COLUMN_REF"]
    return set(columns) if condition["type"] == "COMPARE_EQUAL" and len(columns) == 2 else set()


def mixtures(sql: str) -> Iterator[str]:
    """What a view does that could bring rows of two histories together."""
    for node in inside(parsed(sql)):
        kind = str(node.get("type"))
        if kind.startswith("WINDOW") and not names(node["partitions"]) & APART:
            yield f"a window over {sorted(names(node['partitions']))}"
        elif kind == "JOIN" and not equalities(node.get("condition")) & APART:
            yield f"a join by {sorted(equalities(node.get('condition')))}"
        elif "subquery_type" in node and not equalities(condition := where(node)) & APART:
            yield f"a subquery by {sorted(equalities(condition))}"
        elif kind == "SELECT_NODE":
            yield from _select(node)


def where(subquery: dict[str, Any]) -> Any:
    return subquery["subquery"]["node"].get("where_clause")


def _select(node: dict[str, Any]) -> Iterator[str]:
    for what, columns in (("groups by", grouped_by(node)), ("distinct", made_distinct(node))):
        if columns is not None and not columns & APART:
            yield f"{what} {sorted(columns)}"


def grouped_by(node: dict[str, Any]) -> set[str] | None:
    """The columns by which a select groups; None if it does not aggregate."""
    groups = node.get("group_expressions")
    told = inside(node["select_list"], selects=False)
    aggregates = any(n.get("type") == "FUNCTION" and n["function_name"] in AGGREGATES for n in told)
    return names(groups) if groups or aggregates else None


def made_distinct(node: dict[str, Any]) -> set[str] | None:
    """The columns of which a select leaves each combination once; None if it leaves all."""
    modifiers = {modifier["type"] for modifier in node.get("modifiers", ())}
    return names(node["select_list"]) if "DISTINCT_MODIFIER" in modifiers else None


def test_no_view_can_mix_histories() -> None:
    found = {view: list(mixtures(view_sql(view))) for view in view_names()}

    assert {view: mixed for view, mixed in found.items() if mixed} == {}


def test_what_is_called_a_fingerprint_has_the_topic_in_it() -> None:
    for view in view_names():
        for node in inside(parsed(view_sql(view))):
            if node.get("alias") in FINGERPRINTS and node.get("type") != "COLUMN_REF":
                assert node["function_name"] == "fingerprint", view
                assert "topic" in names(node["arguments"]), view


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT value, count(*) AS n FROM records_sent GROUP BY value",
        "SELECT max(began) AS last FROM ops",
        "SELECT op, lag(op) OVER (PARTITION BY node ORDER BY op) AS before FROM ops",
        "SELECT op, lag(op) OVER (ORDER BY op) AS before FROM ops",
        "SELECT a.op FROM ops a JOIN ops b ON a.node = b.node",
        "SELECT a.op FROM ops a JOIN ops b ON a.topic = b.topic OR a.node = b.node",
        "SELECT a.op FROM ops a CROSS JOIN ops b",
        "SELECT a.op FROM ops a, ops b WHERE a.node = b.node",
        "SELECT op FROM ops o WHERE EXISTS (SELECT 1 FROM fault_windows w WHERE w.since < o.began)",
        "SELECT DISTINCT node, f FROM ops",
    ],
)
def test_a_view_that_could_mix_them_is_found_out(sql: str) -> None:
    assert list(mixtures(sql)) != []
