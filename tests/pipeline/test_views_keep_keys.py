"""A view that brings rows of several logs together says within which key it is complete.

The others are complete within a log: where they join, group, number or make distinct rows that are
about logs, they do so by topic and partition, or by what belongs to one log. DuckDB's parser is
asked what a view does. Whether the keys that are declared are wide enough, shards show
(`tests/spark_checkers/test_law_of_shards.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from test_views_keep_apart import (
    equalities,
    grouped_by,
    inside,
    made_distinct,
    names,
    parsed,
    where,
)

from conformance.catalogue import CATALOGUE
from harness.history import TABLES
from harness.rules import Key
from spark_checkers.view_catalogue import (
    declared_key,
    key_of,
    view_names,
    view_sql,
    views_needed,
)

OF_ONE_LOG = {"op", "sent_op", "log", "print", "send_print", "producer_print"}
"""Columns whose value belongs to one log: a request is about one, a fingerprint has it in it."""


def whole(columns: set[str], *, ops: bool = True) -> bool:
    alone = OF_ONE_LOG if ops else OF_ONE_LOG - {"op"}
    return columns >= {"topic", "partition"} or bool(columns & alone)


@cache
def cut(table: str) -> bool:
    """Whether shards have some of its rows only."""
    if table in TABLES:
        return {"topic", "partition"} <= {column.name for column in TABLES[table].columns}
    return table in view_names() and any(map(cut, _tables(parsed(view_sql(table)))))


def _tables(node: Any) -> set[str]:
    return {n["table_name"] for n in inside(node) if n.get("type") == "BASE_TABLE"}


def crossings(sql: str) -> Iterator[str]:
    """What a view does that brings rows of several logs together."""
    root = parsed(sql)
    maps = [n["cte_map"]["map"] for n in inside(root) if n.get("cte_map")]
    named = {entry["key"]: entry["value"]["query_node"] for each in maps for entry in each}

    def of_logs(node: Any) -> bool:
        return any(of_logs(named[t]) if t in named else cut(t) for t in _tables(node))

    for node in inside(root):
        kind = str(node.get("type"))
        if kind == "JOIN":
            joined = equalities(node.get("condition"))
            if of_logs(node["left"]) and of_logs(node["right"]) and not whole(joined):
                yield f"a join by {sorted(joined)}"
        elif "subquery_type" in node:
            if of_logs(node["subquery"]) and not whole(equalities(where(node))):
                yield f"a subquery by {sorted(equalities(where(node)))}"
        elif kind == "SELECT_NODE" and of_logs(node.get("from_table")):
            yield from _select(node)


def _select(node: dict[str, Any]) -> Iterator[str]:
    for window in inside(node["select_list"], selects=False):
        if str(window.get("type")).startswith("WINDOW") and not whole(names(window["partitions"])):
            yield f"a window over {sorted(names(window['partitions']))}"
    groups = grouped_by(node)
    if groups is not None and not whole(groups):
        yield f"groups by {sorted(groups)}"
    # An operation may be about several logs if it is one of micro-operations.
    distinct = made_distinct(node)
    if distinct is not None and not whole(distinct, ops=False):
        yield f"distinct {sorted(distinct)}"


def undeclared(view: str) -> bool:
    return all(declared_key(each) is None for each in views_needed({view}))


def test_a_view_that_crosses_logs_says_so() -> None:
    found = {view: [*crossings(view_sql(view))] for view in view_names() if undeclared(view)}

    assert {view: how for view, how in found.items() if how} == {}


def test_a_rule_about_a_topic_or_a_transaction_is_not_cut_by_partition() -> None:
    keys = {rule.id: key_of(rule.judge) for rule in CATALOGUE if rule.judge is not None}

    assert keys["KFK-030"] is Key.PARTITION
    assert keys["KFK-080"] is Key.TRANSACTION
    assert keys["MIG-022"] is Key.TOPIC
    assert keys["KFK-015"] is Key.HISTORY


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT topic, count(*) AS n FROM records_sent GROUP BY topic",
        "SELECT max(began) AS last FROM ops",
        "SELECT op, lag(op) OVER (PARTITION BY process ORDER BY op) AS before FROM ops",
        "SELECT a.op FROM ops a JOIN ops b ON a.topic = b.topic",
        "SELECT a.op FROM ops a JOIN responses b ON a.node = b.node AND a.partition = b.partition",
        "SELECT op FROM ops o WHERE EXISTS (SELECT 1 FROM sends s WHERE s.topic = o.topic)",
        "SELECT DISTINCT op FROM records_sent",
    ],
)
def test_a_view_that_crosses_logs_is_found_out(sql: str) -> None:
    assert list(crossings(sql)) != []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT o.op FROM ops o JOIN phases p ON p.clock = o.clock",
        "SELECT assumption, count(*) AS n FROM fault_windows GROUP BY assumption",
        "SELECT a.op FROM ops a JOIN sends b ON a.topic = b.topic AND a.partition = b.partition",
    ],
)
def test_what_concerns_every_log_may_be_joined_with_any(sql: str) -> None:
    assert list(crossings(sql)) == []
