"""Crash points: every effect of a scenario is failed, unanswered and killed at, once each."""

from __future__ import annotations

import pytest
from small_cluster import FILE, asked, cluster

from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation
from harness.simulation.sweep import ALL_ACTS, Point, Swept, sweep


def appends_and_syncs(sim: Simulation) -> None:
    """Ask for an append and a sync; note what was promised; take the power away."""
    cluster(sim, 1)
    for question in ("append x", "sync"):
        answered = sim.spawn(asked(sim.lab, "n1", question))
        sim.advance(5)
        if answered.done() and answered.exception() is None and answered.result() == "synced":
            sim.promised = True
    if sim.nodes["n1"].up:
        sim.lose_power("n1", lose="all")


class Promising(Simulation):
    """A simulation with a place to note that a sync was answered."""

    promised = False


def keeps_its_promise(sim: Simulation) -> str | None:
    left = sim.nodes["n1"].disk.contents().get(FILE)
    return "what was synced is gone" if sim.promised and left != b"x" else None


def swept(**options: object) -> Swept:
    return sweep(appends_and_syncs, keeps_its_promise, make=Promising, **options)


def test_every_act_is_tried_on_every_effect() -> None:
    done = swept()

    # create, append, answer; sync, sync of the directory, answer
    assert done.effects == {"n1": 6}
    assert done.runs == 6 * len(ALL_ACTS)
    assert done.missed == []


def test_a_sweep_finds_the_effects_after_which_a_promise_is_broken() -> None:
    """An append that failed leaves nothing to sync; the sync is answered all the same."""
    found = {str(one.points[0]): one.problem for one in swept().found}

    assert found == dict.fromkeys(
        ["fail effect 1 of n1", "lose-reply effect 1 of n1", "fail effect 2 of n1"],
        "what was synced is gone",
    )


def test_only_some_acts_and_nodes_may_be_swept() -> None:
    assert swept(acts=(Act.KILL,)).runs == 6
    assert swept(nodes=("n2",)).runs == 0


@pytest.mark.parametrize("budget", [1, 20])
def test_pairs_are_drawn_without_repetition_within_their_budget(budget: int) -> None:
    done = swept(acts=(Act.FAIL, Act.KILL), pairs=budget)

    assert done.runs == 12 + budget


def test_all_pairs_are_tried_where_the_budget_allows() -> None:
    done = swept(acts=(Act.FAIL,), pairs=1000)

    assert done.runs == 6 + 15


def test_a_point_that_no_run_reaches_is_not_counted_as_tried() -> None:
    """Killed at its first effect, the node never comes to its second."""
    done = swept(acts=(Act.KILL,), pairs=1000)

    first, second = (Point(node="n1", effect=number, act=Act.KILL) for number in (1, 2))
    assert (first, second) in done.missed
    assert len(done.missed) == 15


def test_the_same_seed_sweeps_the_same() -> None:
    one, two = swept(pairs=5, seed=3), swept(pairs=5, seed=3)

    assert (one.found, one.missed) == (two.found, two.missed)
