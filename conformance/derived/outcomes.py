"""What became of mutants, decision by decision and area by area."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.derived.detection import BROKE, DETECTED, NOT_REACHED, SURVIVED, Result
from conformance.derived.survivors import Survivor, argued_away
from conformance.derived.unreached import Areas
from reference_impl.decisions import find_decision

SQL = "control_plane"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """What became of the mutants of one decision."""

    decision: str
    detected: int
    survived: int
    not_reached: int
    broke: int
    argued_away: int


def by_decision(results: Iterable[Result], argued: Mapping[str, Survivor]) -> list[DecisionRow]:
    """A row for each decision, in order of appearance."""
    grouped: dict[str, list[Result]] = {}
    for one in results:
        grouped.setdefault(one.decision, []).append(one)
    rows = []
    for decision, some in grouped.items():
        counted = Counter(one.outcome for one in counting(some, argued))
        rows.append(
            DecisionRow(
                decision=decision,
                detected=counted[DETECTED],
                survived=counted[SURVIVED],
                not_reached=counted[NOT_REACHED],
                broke=counted[BROKE],
                argued_away=len(some) - counted.total(),
            )
        )
    return rows


def counting(results: Iterable[Result], argued: Mapping[str, Survivor]) -> list[Result]:
    """Those that count: a mutant that is argued away counts only if it was detected after all."""
    return [
        one
        for one in results
        if one.outcome == DETECTED or not argued_away(argued, one.mutant, one.profile)
    ]


def area_of(decision: str) -> str:
    """The package of the reference that makes a decision."""
    function = find_decision(decision).function
    if function is None:
        return SQL
    package, _, below = function.__module__.partition(".")
    return below.partition(".")[0] or package


def by_area(results: Iterable[Result], argued: Mapping[str, Survivor]) -> Areas:
    """Those that count and were not reached."""
    found: dict[str, dict[str, list[str]]] = {}
    for one in counting(results, argued):
        if one.outcome == NOT_REACHED:
            decisions = found.setdefault(area_of(one.decision), {})
            decisions.setdefault(one.decision, []).append(one.mutant.partition("/")[2])
    return {area: dict(sorted(found[area].items())) for area in sorted(found)}
