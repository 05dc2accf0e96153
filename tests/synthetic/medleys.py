"""Many histories judged as one: what a rule costs is mostly paid per history, not per row.

Each history keeps to logs, processes and a stretch of time of its own, so that none is excused by
another's faults, and whatever is found is found at a line of one of them.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.catalogue import CATALOGUE
from harness.history import history_of, write_tables
from harness.rules import Finding, Rule, RuleResult
from spark_checkers.engine import Engine, InlineEngine
from spark_checkers.evaluate import evaluate
from spark_checkers.synthetic import Simulated

# Of a synthetic cluster nobody says when it was healed, so nothing is asked about its rest.
RULES = [
    rule for rule in CATALOGUE.judged() if rule.id.startswith("KFK-") and rule.section != "Liveness"
]
# From KFK-110 on they rest on what no synthetic cluster tells: answers, settings, replicas.
WIRE_RULES = [rule for rule in RULES if "KFK-030" <= rule.id < "KFK-110"]
MICRO_RULES = [rule for rule in RULES if rule.id < "KFK-030"]
GAP_NS = 1_000_000_000
KEPT = 100_000
"""More findings than there are: each must be told."""


@dataclass(frozen=True, slots=True)
class Medley:
    """Several histories as one, and the first line of each."""

    events: list[dict[str, Any]]
    firsts: list[int]

    def owner(self, line: int) -> tuple[int, int]:
        """Which history a line belongs to, and which line of it that is."""
        number = bisect_right(self.firsts, line) - 1
        return number, line - self.firsts[number]


def medley(histories: Sequence[Simulated]) -> Medley:
    events: list[dict[str, Any]] = []
    firsts: list[int] = []
    processes, now = 0, 0
    for number, history in enumerate(histories):
        own = history.events
        shift = now - min(event["time"] for event in own)
        firsts.append(len(events))
        new = [_renamed(event, f"h{number}", processes, shift) for event in own]
        new += _healed(new)
        events += new
        processes = 1 + max(event.get("process", processes - 1) for event in new)
        now = max(now, *(event["time"] + GAP_NS for event in new))
    return Medley([{**event, "index": at} for at, event in enumerate(events)], firsts)


def _renamed(event: dict[str, Any], prefix: str, processes: int, shift: int) -> dict[str, Any]:
    changed = {**event, "time": event["time"] + shift}
    for name in ("topic", "send", "transaction", "request", "target"):
        if name in event:
            changed[name] = f"{prefix}-{event[name]}"
    if "rebalanced" in event:
        changed["rebalanced"] = [f"{prefix}-{key}" for key in event["rebalanced"]]
    if "process" in event:
        changed["process"] = event["process"] + processes
    if event.get("f") in ("send", "poll", "txn"):
        changed["value"] = [_renamed_micro(micro, prefix) for micro in event["value"]]
    elif event.get("f") in ("assign", "subscribe"):
        changed["value"] = [f"{prefix}-{key}" for key in event["value"]]
    return changed


def _renamed_micro(micro: list[Any], prefix: str) -> list[Any]:
    if micro[0] == "send":
        return ["send", f"{prefix}-{micro[1]}", micro[2]]
    if len(micro) == 1:
        return micro
    return ["poll", {f"{prefix}-{key}": pairs for key, pairs in micro[1].items()}]


def _healed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The ends of faults that last as long as their history."""
    open_: dict[tuple[str, str], dict[str, Any]] = {}
    for event in events:
        if event["kind"] == "fault":
            key = (event["name"], event["target"])
            if event["phase"] == "end":
                open_.pop(key)
            else:
                open_[key] = event
    end = max(event["time"] for event in events)
    return [
        {"kind": "fault", "name": name, "target": target, "phase": "end"}
        | {"time": end + 1, "clock": event["clock"]}
        for (name, target), event in open_.items()
    ]


def judged(
    events: list[dict[str, Any]],
    *,
    world: str = "process",
    under: Iterable[str] = (),
    engine: Engine | None = None,
    rules: Sequence[Rule] = RULES,
) -> list[RuleResult]:
    """What rules about logs, all unless told, say of a history."""
    header = {"kind": "header", "format": 1, "run": "medley", "sut": "synthetic", "world": world}
    judge = engine or InlineEngine()
    with tempfile.TemporaryDirectory() as folder:
        tables = write_tables(history_of(events, header=header), Path(folder))
        assert tables.problems == []
        for name, path in tables.items():
            judge.load(name, path)
        return evaluate(judge, rules, reference=True, circumstances=tuple(under), kept=KEPT)


def violations(
    histories: Sequence[Simulated], *, world: str = "process", under: Iterable[str] = ()
) -> list[dict[str, list[Finding]]]:
    """By history, by rule: what was found there. Lines are counted within the history."""
    mixed = medley(histories)
    found: list[dict[str, list[Finding]]] = [defaultdict(list) for _ in histories]
    for result in judged(mixed.events, world=world, under=under):
        assert result.broken == ""
        for finding in result.findings:
            number, line = mixed.owner(finding.op)
            found[number][result.rule].append(replace(finding, op=line))
    return found
