"""Shrinking keeps the very finding it was asked for, and what excuses others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.catalogue import CATALOGUE
from conformance.catalogue.kafka import jepsen
from harness.history import History, history_of
from spark_checkers.engine import InlineEngine
from spark_checkers.shrink import WAS, shrink
from spark_checkers.shrink_findings import (
    excuses_of,
    findings_of,
    kinds_found,
    shows_finding,
    shows_unplaceable,
)
from spark_checkers.shrink_sources import Writers

HEADER = {"kind": "header", "format": 1, "run": "t", "sut": "unknown", "world": "import"}
LOST = CATALOGUE["KFK-005"]

Event = dict[str, Any]


def op(process: int, f: str, asked: object, told: object, type_: str = "ok") -> list[Event]:
    whole = {"kind": "op", "time": 0, "clock": "import", "process": process, "f": f}
    return [whole | {"type": "invoke", "value": asked}, whole | {"type": type_, "value": told}]


def sent(process: int, value: str, offset: int) -> list[Event]:
    return op(process, "send", [["send", "x", value]], [["send", "x", [offset, value]]])


def polled(process: int, *found: tuple[int, str]) -> list[Event]:
    return op(process, "poll", [["poll"]], [["poll", {"x": [list(one) for one in found]}]])


def history(*operations: list[Event]) -> History:
    return history_of([event for one in operations for event in one], header=HEADER)


@pytest.fixture
def engine() -> InlineEngine:
    return InlineEngine()


def test_the_write_that_was_lost_stays_the_lost_one(engine: InlineEngine, tmp_path: Path) -> None:
    whole = history(
        sent(0, "a", 0),
        sent(0, "b", 1),
        sent(0, "c", 2),
        polled(1, (0, "a")),
        polled(2, (2, "c")),
    )
    (first,) = findings_of(whole, LOST, engine, tmp_path, ())
    left = shrink(whole, shows_finding(LOST, first, engine, tmp_path, ()))

    # Without the first poll `a` would seem lost, and with fewer operations.
    assert [event["value"] for event in left.events if event["type"] == "ok"] == [
        [["send", "x", [1, "b"]]],
        [["send", "x", [2, "c"]]],
        [["poll", {"x": [[2, "c"]]}]],
    ]


def test_what_one_poll_read_goes_with_those_who_sent_it(
    engine: InlineEngine, tmp_path: Path
) -> None:
    """Sixty sends, one of them lost, one poll of all others."""
    told = [(offset, f"v{offset}") for offset in range(60) if offset != 30]
    whole = history(*(sent(0, f"v{n}", n) for n in range(60)), polled(1, *told))
    (first,) = findings_of(whole, LOST, engine, tmp_path, ())

    left = shrink(
        whole,
        shows_finding(LOST, first, engine, tmp_path, ()),
        kinds=lambda part: kinds_found(part, jepsen.RULES, engine, tmp_path, ()),
    )

    assert left.minimal
    assert [event["value"] for event in left.events if event["type"] == "ok"] == [
        [["send", "x", [30, "v30"]]],
        [["send", "x", [59, "v59"]]],
        [["poll", {"x": [[59, "v59"]]}]],
    ]


def test_a_value_stays_read_while_its_sender_sent_more(
    engine: InlineEngine, tmp_path: Path
) -> None:
    """Without the read of `b` its sender, which `d` needs, would have lost it."""
    both = op(
        0,
        "send",
        [["send", "x", "b"], ["send", "x", "d"]],
        [
            ["send", "x", [1, "b"]],
            ["send", "x", [3, "d"]],
        ],
    )
    whole = history(sent(0, "a", 0), both, polled(1, (1, "b"), (3, "d")))
    (first,) = findings_of(whole, LOST, engine, tmp_path, ())

    left = shrink(
        whole,
        shows_finding(LOST, first, engine, tmp_path, ()),
        kinds=lambda part: kinds_found(part, jepsen.RULES, engine, tmp_path, ()),
    )

    assert left.events[-1]["value"] == [["poll", {"x": [[1, "b"], [3, "d"]]}]]


def test_a_smaller_history_with_another_kind_of_anomaly_is_refused() -> None:
    whole = history(sent(0, "a", 0), sent(0, "b", 1), polled(1, (0, "a"), (1, "b")))

    def kinds(part: History) -> set[str]:
        return set() if sum(1 for _ in part.events) == 6 else {"another"}

    def reads(part: History) -> bool:
        return any(event["f"] == "poll" for event in part.events)

    assert shrink(whole, reads, kinds=kinds).operations == 3
    assert shrink(whole, reads, kinds=lambda part: set()).operations == 1


def test_another_finding_of_the_same_rule_does_not_count(
    engine: InlineEngine, tmp_path: Path
) -> None:
    whole = history(sent(0, "a", 0), sent(0, "b", 1), sent(0, "c", 2), polled(1, (2, "c")))
    first, second = findings_of(whole, LOST, engine, tmp_path, ())
    without_a = history(sent(0, "b", 1), sent(0, "c", 2), polled(1, (2, "c")))

    assert shows_finding(LOST, first, engine, tmp_path, ())(whole)
    assert shows_finding(LOST, second, engine, tmp_path, ())(whole)
    assert not shows_finding(LOST, first, engine, tmp_path, ())(without_a)


def test_faults_that_excuse_stay_and_others_go() -> None:
    stays = excuses_of(CATALOGUE["KFK-034"])

    assert stays({"kind": "fault", "assumption": "clean-election"})
    assert not stays({"kind": "fault", "assumption": "calm"})
    assert not stays({"kind": "op", "f": "subscribe", "assumption": "clean-election"})


def test_subscriptions_stay_where_they_allow_what_is_found() -> None:
    assert excuses_of(CATALOGUE["KFK-007"])({"kind": "op", "f": "subscribe"})
    assert not excuses_of(CATALOGUE["KFK-007"])({"kind": "op", "f": "assign"})
    assert not excuses_of(LOST)({"kind": "op", "f": "subscribe"})


def test_a_fault_that_stays_is_left_with_the_finding() -> None:
    fault = {"kind": "fault", "time": 0, "clock": "import", "name": "cut", "target": "n1"}
    excuse = fault | {"phase": "begin", "assumption": "calm"}
    other = fault | {"name": "pause", "phase": "noted"}
    whole = history([excuse], op(0, "write", 1, 1), [fault | {"phase": "end"}], [other])
    left = shrink(
        whole,
        lambda part: any(event["kind"] == "op" for event in part.events),
        stays=lambda event: event.get("assumption") == "calm",
    )

    assert [event["kind"] for event in left.events] == ["fault", "op", "op", "fault"]


def test_a_search_is_held_to_the_operation_that_has_no_place() -> None:
    whole = history(
        op(0, "write", 1, 1), op(0, "write", 2, 2), op(1, "read", None, 1), op(2, "write", 3, 3)
    )

    assert shows_unplaceable(4, "register", None)(whole)
    assert not shows_unplaceable(2, "register", None)(whole)
    left = shrink(whole, shows_unplaceable(4, "register", None))
    assert [event[WAS] for event in left.events] == [0, 1, 2, 3, 4, 5]


def units(*operations: list[Event]) -> list[tuple[Event, ...]]:
    events = list(history(*operations).events)
    return [tuple(events[at : at + 2]) for at in range(0, len(events), 2)]


@pytest.mark.parametrize(
    ("operations", "kept"),
    [
        # the last that wrote the value, not the first
        ([op(0, "write", 1, 1), op(0, "write", 1, 1), op(1, "read", None, 1)], {1, 2}),
        # one that failed wrote nothing
        ([op(0, "write", 1, 1), op(0, "write", 1, 1, "fail"), op(1, "read", None, 1)], {0, 2}),
        # unless nobody else did
        ([op(0, "write", 2, 2), op(0, "write", 1, 1, "fail"), op(1, "read", None, 1)], {1, 2}),
        # a compare-and-set has read too
        ([op(0, "write", 1, 1), op(0, "cas", [1, 2], [1, 2]), op(1, "read", None, 2)], {0, 1, 2}),
        # what was never written has no source
        ([op(0, "write", 2, 2), op(0, "write", 3, 3), op(1, "read", None, 1)], {2}),
    ],
)
def test_a_reader_keeps_those_that_may_have_written(
    operations: list[list[Event]], kept: set[int]
) -> None:
    assert Writers(units(*operations)).with_sources({2}) == kept
