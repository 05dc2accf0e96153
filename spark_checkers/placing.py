"""When a violation was seen: the time since the run began, and the faults in force then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from harness.history.recorder import SUSPENDED
from harness.rules import Finding, Judged, Judgement
from spark_checkers.engine import Engine, Row

_NS_PER_S = 1_000_000_000
_STARTS = "SELECT clock, min(invoked_ns) AS start_ns FROM ops GROUP BY clock"
_WINDOWS = f"""
    SELECT fault, target, clock, since, until FROM fault_windows
    WHERE fault <> '{SUSPENDED}' ORDER BY since, fault, target
"""


def placed_in_time(engine: Engine, judgement: Judgement, tables: Mapping[str, Path]) -> Judgement:
    """The judgement of one history with the times of its findings, taken from its tables."""
    wanted = sorted({finding.op for one in judgement.judged for finding in one.result.findings})
    if not wanted:
        return judgement
    for name in ("ops", "fault_windows"):
        engine.load(name, tables[name])
    listed = ", ".join(map(str, wanted))
    operations = engine.rows(
        f"SELECT op, clock, began, answered, invoked_ns FROM ops WHERE op IN ({listed})"
    )
    by_op = {int(row["op"]): row for row in operations}
    starts = {row["clock"]: int(row["start_ns"]) for row in engine.rows(_STARTS)}
    windows = engine.rows(_WINDOWS)

    def placed(finding: Finding) -> Finding:
        row = by_op.get(finding.op)
        if row is None:
            return finding
        at_s = (int(row["invoked_ns"]) - starts[row["clock"]]) / _NS_PER_S
        return replace(finding, at_s=round(at_s, 3), faults=_in_force(row, windows))

    def told(judged: Judged) -> Judged:
        findings = tuple(placed(finding) for finding in judged.result.findings)
        return replace(judged, result=replace(judged.result, findings=findings))

    return replace(judgement, judged=tuple(told(one) for one in judgement.judged))


def _in_force(row: Row, windows: Iterable[Row]) -> tuple[str, ...]:
    ended = row["began"] if row["answered"] is None else row["answered"]
    named = [
        f"{window['fault']} on {window['target']}"
        for window in windows
        if window["clock"] == row["clock"]
        and window["since"] <= ended
        and (window["until"] is None or window["until"] >= row["began"])
    ]
    return tuple(dict.fromkeys(named))
