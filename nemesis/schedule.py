"""When which fault begins and ends: pure functions of a seed.

A schedule is a list of periods of equal length. A quarter of them is quiet; in the others one fault
begins and ends, or two that overlap. It is data that the step language can carry, and targets are
as symbolic as they were given: who leads is asked when the fault begins.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from string import Formatter
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nemesis.fault import Fault

QUIET = 4  # one period of so many is quiet
_ROUND = 3  # places of seconds
_FIRST, _LAST = (0, 1 / 3), (2 / 3, 1)


@dataclass(frozen=True, slots=True, order=True)
class Strike:
    """A fault and its target, as they are begun."""

    fault: str
    target: str


@dataclass(frozen=True, slots=True)
class Entry:
    """At so many seconds a fault begins or ends."""

    at_s: float
    act: Literal["begin", "end"]
    fault: str
    target: str


def strikes(faults: Iterable[Fault], **filled: str) -> list[Strike]:
    """Faults on their usual targets, as far as what these leave open is given.

    `partition`, `client` and `object` fill in the targets that ask for them.
    """
    return [
        Strike(fault.name, target.format(**filled))
        for fault in faults
        for target in fault.targets
        if _asks_for(target) <= filled.keys()
    ]


def one_after_the_other(
    seed: int, chosen: Sequence[Strike], *, periods: int, period_s: float, each: bool = False
) -> list[Entry]:
    """One fault in every period that is not quiet; with `each`, every one at least once."""
    return _schedule(seed, chosen, periods=periods, period_s=period_s, pairs=0, each=each)


def overlapping(
    seed: int,
    chosen: Sequence[Strike],
    *,
    periods: int,
    period_s: float,
    pairs: float = 0.5,
    each: bool = False,
) -> list[Entry]:
    """The same, and in such a share of the periods two faults that overlap."""
    return _schedule(seed, chosen, periods=periods, period_s=period_s, pairs=pairs, each=each)


def periods_for(strikes: int) -> int:
    """How many periods give every one of so many strikes one of its own."""
    return ceil(strikes * QUIET / (QUIET - 1))


def _schedule(
    seed: int, chosen: Sequence[Strike], *, periods: int, period_s: float, pairs: float, each: bool
) -> list[Entry]:
    chance = random.Random(f"{seed}/schedule")
    quiet = set(chance.sample(range(periods), ceil(periods / QUIET)))
    loud = [one for one in range(periods) if one not in quiet]
    if each and len(loud) < len(chosen):
        needed = periods_for(len(chosen))
        raise ValueError(f"{len(chosen)} faults do not fit: that takes {needed} periods")
    first = _drawn(chance, chosen, len(loud))
    entries: list[Entry] = []
    for period, strike in zip(loud, first, strict=True):
        others = [one for one in chosen if one != strike]
        both = bool(others) and chance.random() < pairs
        entries += _one_period(
            chance,
            period * period_s,
            period_s,
            [strike, chance.choice(others)] if both else [strike],
        )
    return entries


def _drawn(chance: random.Random, chosen: Sequence[Strike], count: int) -> list[Strike]:
    """So many, in rounds in which each comes once before any comes again."""
    drawn: list[Strike] = []
    while chosen and len(drawn) < count:
        drawn += chance.sample(chosen, len(chosen))
    return drawn[:count]


def _one_period(
    chance: random.Random, start_s: float, period_s: float, together: Sequence[Strike]
) -> list[Entry]:
    """All begin in the first third and end in the last: so two of them overlap."""
    entries = []
    for strike in together:
        begins, ends = (
            round(start_s + chance.uniform(*share) * period_s, _ROUND) for share in (_FIRST, _LAST)
        )
        entries.append(Entry(begins, "begin", strike.fault, strike.target))
        entries.append(Entry(ends, "end", strike.fault, strike.target))
    return sorted(entries, key=lambda one: one.at_s)


def _asks_for(target: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(target) if name}
