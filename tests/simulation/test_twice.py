"""A program that is run twice must do the same; the first thing it does differently is named."""

from __future__ import annotations

from itertools import count

import pytest
from small_cluster import ask, cluster

from harness.simulation.errors import Diverged
from harness.simulation.simulation import Simulation
from harness.simulation.twice import twice


def busy(sim: Simulation) -> None:
    cluster(sim, 3)
    for number in range(5):
        ask(sim, "n1", f"ask n2 put key{number} value")
        ask(sim, "n3", f"register {number}")
    sim.levers.lose_power("n2").release()
    sim.advance(10)


def test_a_program_without_chance_of_its_own_does_the_same_twice() -> None:
    assert twice(busy, seed=5) > 300


def test_a_program_that_remembers_the_first_run_is_caught_where_it_shows() -> None:
    runs = count()

    def forgetful(sim: Simulation) -> None:
        cluster(sim)
        if next(runs):
            ask(sim, "n1", "nap 1.5")
        ask(sim, "n1", "echo hi")

    with pytest.raises(Diverged) as caught:
        twice(forgetful)

    said = str(caught.value)
    assert "the second run differs at callback" in said
    assert "first: " in said
    assert "second: " in said


def test_a_second_run_that_stops_early_differs_too() -> None:
    runs = count()

    def lazy(sim: Simulation) -> None:
        cluster(sim)
        if not next(runs):
            ask(sim, "n1", "echo hi")

    with pytest.raises(Diverged, match="second: nothing more"):
        twice(lazy)


def test_another_seed_takes_another_course() -> None:
    courses = []
    for seed in (1, 2):
        with Simulation(seed) as sim:
            seen: list[str] = []
            sim.loop.watch = seen.append
            busy(sim)
            courses.append(seen)

    assert courses[0] != courses[1]
