"""What became of mutants, decision by decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conformance.derived.detection import BROKE, DETECTED, NOT_REACHED, SURVIVED, Result
from conformance.derived.survivors import Survivor


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
    return [one for one in results if one.outcome == DETECTED or one.mutant not in argued]
