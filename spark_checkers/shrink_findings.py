"""Which finding a smaller history must still show: the same one, not just one of the same kind.

Leaving operations out can make new findings: without the poll that read a value the value seems
lost. So a finding is held fast by the operation at which it shows, and by what it says of
operations and values. Places and counts in it change as the history gets smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, Final

from harness.history import History, collect_tables
from harness.history.independent import by_key
from harness.rules import Finding, Rule
from harness.sut.adapter import adapter_of
from spark_checkers.circumstances import SUBSCRIBE
from spark_checkers.engine import Engine
from spark_checkers.judge_history import judge_history
from spark_checkers.linearizability import Verdict, search_rows

Shows = Callable[[History], bool]

_LOOKED_AT: Final = 10_000
_HELD_FAST: Final = (
    "completion",
    "completion_before",
    "value",
    "value_before",
    "record_offset",
    "writer",
)


def findings_of(
    history: History, rule: Rule, engine: Engine, scratch: Path, circumstances: Collection[str]
) -> tuple[Finding, ...]:
    """What one rule finds in a history."""
    judgement = judge_history(
        history,
        scratch / "tables",
        [rule],
        engine,
        reference=adapter_of(str(history.header.get("sut"))).by_our_reading,
        circumstances=circumstances,
        kept=_LOOKED_AT,
    )
    return judgement.judged[0].result.findings


def shows_finding(
    rule: Rule, finding: Finding, engine: Engine, scratch: Path, circumstances: Collection[str]
) -> Shows:
    """Whether a history still shows this finding of the rule."""
    wanted = _held_fast(finding)

    def shows(history: History) -> bool:
        found = findings_of(history, rule, engine, scratch, circumstances)
        return any(_held_fast(one) == wanted for one in found)

    return shows


def kinds_found(
    history: History,
    rules: Iterable[Rule],
    engine: Engine,
    scratch: Path,
    circumstances: Collection[str],
) -> frozenset[str]:
    """The rules that find anything in a history."""
    judgement = judge_history(
        history,
        scratch / "tables",
        rules,
        engine,
        reference=adapter_of(str(history.header.get("sut"))).by_our_reading,
        circumstances=circumstances,
    )
    return frozenset(one.rule.id for one in judgement.judged if one.result.violations)


def shows_unplaceable(op: int, model: str, initial: object) -> Shows:
    """Whether a search still finds no place for this operation."""

    def shows(history: History) -> bool:
        keys: dict[str | None, list[dict[str, Any]]] = {}
        for row in collect_tables(by_key(history)).tables["ops"].to_pylist():
            keys.setdefault(row["key"], []).append(row)
        return any(
            found["verdict"] == Verdict.NOT_LINEARIZABLE.value and found["op"] == op
            for rows in keys.values()
            for found in search_rows(rows, model=model, initial=initial)
        )

    return shows


def excuses_of(rule: Rule) -> Callable[[dict[str, Any]], bool]:
    """Events that say when the rule is not judged, or that what it finds is allowed: without them
    the same would count for more."""

    def excuses(event: dict[str, Any]) -> bool:
        if event["kind"] == "op":
            return event["f"] == SUBSCRIBE and SUBSCRIBE in rule.allowed_under
        return event["kind"] == "fault" and event.get("assumption") in rule.assumes

    return excuses


def _held_fast(finding: Finding) -> tuple[object, ...]:
    shown = tuple(finding.shown.get(name) for name in _HELD_FAST)
    return finding.op, finding.topic, finding.partition, *shown
