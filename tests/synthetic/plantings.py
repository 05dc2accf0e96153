"""Good histories that have a place for an anomaly, with the anomaly in it."""

from __future__ import annotations

from functools import cache

from shapes import MICRO_PLANTED_IN, PLANTED_IN

from spark_checkers.synthetic import PLANTS, Plant, Planted, Simulated, simulate, simulate_micro

SEEDS = range(16)
PLACES = 2
"""In how many histories each anomaly is planted."""
WHOLE = "empty-transaction-graph"
"""An anomaly of a whole history, which no other may be judged with."""


@cache
def good(seed: int) -> Simulated:
    return simulate(seed, PLANTED_IN)


@cache
def good_micro(seed: int) -> Simulated:
    return simulate_micro(seed, MICRO_PLANTED_IN[seed % 2])


def places(plant: Plant, most: int = PLACES) -> list[Planted]:
    """The first histories that have a place for it."""
    make = good if plant in PLANTS else good_micro
    found: list[Planted] = []
    for seed in SEEDS:
        planted = plant.into(make(seed), seed)
        if planted is not None:
            found.append(planted)
        if len(found) == most:
            break
    return found
