"""Crash points: the same scenario again and again, with something done to each of its effects.

A scenario is a function that is given a fresh simulation and plays in it. The first run counts the
effects of each node. Then every effect gets every act once, in a run of its own, up to the moment
where the scenario has ended; what it then looks like is for ``judge`` to say. Pairs of acts are too
many to try all: a budget says how many are drawn, from the seed and without repetition.

What a scenario does after the fault is its own affair: one that never starts a killed node again
shows what the others do, one that starts it again shows recovery.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from harness.levers import has_acted
from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation

ALL_ACTS = (Act.FAIL, Act.LOSE_REPLY, Act.KILL, Act.KILL_AFTER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One act on one effect."""

    node: str
    effect: int
    act: Act

    def __str__(self) -> str:
        return f"{self.act.value} effect {self.effect} of {self.node}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Points after which the scenario ended badly, and how."""

    points: tuple[Point, ...]
    problem: str


@dataclass(slots=True, kw_only=True)
class Swept:
    """What a sweep tried and found. Points that no run reached prove nothing, and are listed."""

    effects: dict[str, int]
    runs: int = 0
    found: list[Found] = field(default_factory=list)
    missed: list[tuple[Point, ...]] = field(default_factory=list)


Scenario = Callable[[Simulation], None]
Judge = Callable[[Simulation], str | None]


def sweep(
    scenario: Scenario,
    judge: Judge,
    *,
    seed: int = 0,
    acts: Sequence[Act] = ALL_ACTS,
    nodes: Sequence[str] | None = None,
    pairs: int = 0,
    make: Callable[[int], Simulation] = Simulation,
) -> Swept:
    """Try every act on every effect of a scenario, and then this many pairs of them."""
    swept = Swept(effects=_effects(scenario, make, seed))
    points = [
        Point(node=node, effect=number, act=act)
        for node, count in swept.effects.items()
        if nodes is None or node in nodes
        for number in range(1, count + 1)
        for act in acts
    ]
    singles = [(point,) for point in points]
    for chosen in [*singles, *_pairs(points, pairs, random.Random(f"{seed}/pairs"))]:
        swept.runs += 1
        problem, reached = _try(scenario, judge, make, seed, chosen)
        if problem is not None:
            swept.found.append(Found(points=chosen, problem=problem))
        if not reached:
            swept.missed.append(chosen)
    return swept


def _effects(scenario: Scenario, make: Callable[[int], Simulation], seed: int) -> dict[str, int]:
    with make(seed) as sim:
        scenario(sim)
        return dict(sim.effects.counts)


def _try(
    scenario: Scenario,
    judge: Judge,
    make: Callable[[int], Simulation],
    seed: int,
    points: Sequence[Point],
) -> tuple[str | None, bool]:
    """The problem, if there is one, and whether every point was reached."""
    with make(seed) as sim:
        levers = [sim.levers.at_effect(p.node, p.effect, p.act) for p in points]
        scenario(sim)
        return judge(sim), all(has_acted(lever.counts) for lever in levers)


def _pairs(
    points: Sequence[Point], budget: int, rng: random.Random
) -> Iterator[tuple[Point, Point]]:
    """Pairs of different effects, all of them if the budget allows, else drawn."""
    count = len(points)
    if count * (count - 1) // 2 <= budget:
        yield from (pair for pair in combinations(points, 2) if _apart(pair))
        return
    seen: dict[tuple[int, int], None] = {}
    while len(seen) < budget:
        one, two = sorted((rng.randrange(count), rng.randrange(count)))
        pair = (points[one], points[two])
        if (one, two) not in seen and _apart(pair):
            seen[one, two] = None
            yield pair


def _apart(pair: tuple[Point, Point]) -> bool:
    return (pair[0].node, pair[0].effect) != (pair[1].node, pair[1].effect)
