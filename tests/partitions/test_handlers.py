"""Handlers of requests ask the logical partition, and reach into no replica and no log."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reference_impl.broker

HANDLERS = Path(reference_impl.broker.__file__).parent
TOLD_OF_REPLICAS = ["events.py"]  # no handler: replication tells it what happens to replicas


def reached_below(source: str) -> list[str]:
    """Expressions of a module that take a replica or its log; a node's own log is neither."""
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and node.attr in ("log", "replica", "_replica")
        and not ast.unparse(node.value).endswith("ports")
    ]


def test_handlers_reach_into_no_replica_and_no_log() -> None:
    found = {path.name: reached_below(path.read_text("utf-8")) for path in HANDLERS.glob("*.py")}

    assert len(found) > 20
    assert [name for name, below in found.items() if below] == TOLD_OF_REPLICAS


@pytest.mark.parametrize(
    "source",
    ["log = partition.log", "partition.replica.log.size", "if partition.replica is None: pass"],
)
def test_each_way_below_is_noticed(source: str) -> None:
    assert reached_below(source) != []


def test_the_log_of_a_node_is_not_below() -> None:
    assert reached_below("node.ports.log(line); context.ports.log") == []
