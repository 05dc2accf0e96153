"""Shrinking a history: what the finding does not need goes, what is left stays in order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.history import History, history_of
from harness.minimise import minimise
from spark_checkers.linearizability import Verdict, model_named, operations_by_key, search
from spark_checkers.shrink import WAS, shrink, units_of


@given(
    needed=st.sets(st.integers(0, 60)),
    size=st.integers(61, 80),
)
def test_what_is_left_is_exactly_what_is_needed(needed: set[int], size: int) -> None:
    kept = minimise(range(size), lambda items: needed <= {*items})

    assert kept == sorted(needed)


def test_when_one_of_several_would_do_one_is_left() -> None:
    kept = minimise(range(50), lambda items: any(item % 7 == 3 for item in items))

    assert len(kept) == 1


def op(process: int, type_: str, f: str, value: Any, key: str = "x") -> dict[str, Any]:
    return {
        "kind": "op",
        "time": 0,
        "clock": "sim",
        "process": process,
        "type": type_,
        "f": f,
        "value": value,
        "key": key,
    }


def noise(key: str, process: int, count: int) -> list[dict[str, Any]]:
    return [
        event
        for value in range(count)
        for event in (
            op(process, "invoke", "write", value, key),
            op(process, "ok", "write", value, key),
        )
    ]


FAULT = {"kind": "fault", "time": 0, "clock": "sim", "name": "cut", "target": "n1"}


def stale_history() -> History:
    """A write, then a read that does not see it, in a crowd of others."""
    return history_of(
        [
            {**FAULT, "phase": "begin"},
            *noise("y", 7, 20),
            *noise("x", 3, 10),
            op(1, "invoke", "write", 100),
            {**FAULT, "phase": "landed"},
            op(1, "ok", "write", 100),
            *noise("z", 8, 20),
            op(2, "invoke", "read", None),
            op(2, "ok", "read", 5),
            {**FAULT, "phase": "end"},
            *noise("x", 4, 10),
        ]
    )


def not_linearizable(history: History) -> bool:
    model = model_named("register")
    found = operations_by_key(history.events, model)
    return any(
        search(operations, model).verdict is Verdict.NOT_LINEARIZABLE
        for operations in found.values()
    )


def test_a_history_shrinks_to_the_operations_that_contradict_each_other() -> None:
    shrunk = shrink(stale_history(), not_linearizable)

    assert shrunk.operations_before == 62
    assert shrunk.minimal
    assert [(e["f"], e["value"]) for e in shrunk.events if e["type"] == "ok"] == [
        ("write", 5),
        ("write", 100),
        ("read", 5),
    ]


def test_what_is_left_is_numbered_anew_and_says_what_it_was() -> None:
    events = shrink(stale_history(), not_linearizable).events

    assert [event["index"] for event in events] == [0, 1, 2, 3, 4, 5]
    assert [event[WAS] for event in events] == [51, 52, 61, 63, 104, 105]


def test_what_is_left_still_shows_the_finding() -> None:
    assert not_linearizable(history_of(shrink(stale_history(), not_linearizable).events))


def test_a_spent_budget_gives_the_smallest_so_far() -> None:
    shrunk = shrink(stale_history(), not_linearizable, budget=4)

    assert not shrunk.minimal
    assert shrunk.trials == 4
    assert shrunk.operations < shrunk.operations_before
    assert not_linearizable(history_of(shrunk.events))


def test_a_fault_is_one_unit_from_its_begin_to_its_end() -> None:
    units = units_of(stale_history().events)
    faults = [[event["phase"] for event in unit] for unit in units if unit[0]["kind"] == "fault"]

    assert faults == [["begin", "landed", "end"]]


@pytest.mark.parametrize("kind", ["info", "none"])
def test_an_operation_without_an_answer_is_a_unit_of_its_own(kind: str) -> None:
    answer = [op(1, "info", "write", 1)] if kind == "info" else []
    units = units_of(history_of([op(1, "invoke", "write", 1), *answer]).events)

    assert [len(unit) for unit in units] == [1 + len(answer)]
