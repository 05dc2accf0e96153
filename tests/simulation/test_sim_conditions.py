"""Conditions: what is done to requests to the database, seen from the lab that imposes it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from small_cluster import asked, cluster

from harness.simulation.errors import Deadlock, StillWaiting
from harness.simulation.gate import Condition
from harness.simulation.simulation import Simulation
from reference_impl.ports.effects import Trouble

DATABASE = "control_plane"


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation(7) as made:
        yield cluster(made)


def impose(sim: Simulation, condition: Condition) -> Condition:
    sim.effects.conditions.append(condition)
    return condition


def asking(sim: Simulation, name: str, epoch: int) -> None:
    """A node is asked for two calls of the database: to create a log, and to fence it."""
    sim.spawn(asked(sim.lab, name, f"register {epoch}"))


def epoch(sim: Simulation) -> object:
    rows = sim.registers.rows()
    return rows[0]["epoch"] if rows else None


def test_what_is_held_waits_until_it_is_let_go_one_by_one(sim: Simulation) -> None:
    held = impose(sim, Condition(port=DATABASE, holds=True))
    asking(sim, "n1", 5)
    sim.run_until(lambda: held.hits == 1)
    sim.advance(60)
    assert epoch(sim) is None

    assert held.release(1) == 1
    sim.run_until(lambda: held.hits == 2)
    assert epoch(sim) == -1

    assert held.release() == 1
    sim.run_until(lambda: epoch(sim) == 5)


def test_what_is_held_and_dropped_never_gets_there(sim: Simulation) -> None:
    held = impose(sim, Condition(port=DATABASE, holds=True))
    asking(sim, "n1", 5)
    sim.run_until(lambda: held.hits == 1)
    sim.kill("n1")

    held.drop()
    sim.advance(60)

    assert epoch(sim) is None
    assert held.release() == 0


def test_a_condition_may_hit_one_life_of_a_node_alone(sim: Simulation) -> None:
    held = impose(sim, Condition(port=DATABASE, life=sim.nodes["n1"].process, holds=True))
    asking(sim, "n1", 5)
    sim.run_until(lambda: held.hits == 1)
    sim.kill("n1")
    sim.start("n1")
    sim.advance(0.1)

    asking(sim, "n1", 6)
    asking(sim, "n2", 6)
    sim.run_until(lambda: epoch(sim) == 6)

    assert held.hits == 1


@pytest.mark.parametrize("refused_first", [True, False])
@pytest.mark.parametrize(
    "other",
    [
        {"trouble": Trouble.BROKEN},
        {"trouble": Trouble.CONFLICT},
        {"loses_replies": True},
    ],
    ids=["broken", "conflict", "lost"],
)
def test_nothing_else_befalls_what_is_refused(
    sim: Simulation, refused_first: bool, other: dict[str, object]
) -> None:
    refusal = Condition(port=DATABASE, trouble=Trouble.REFUSED)
    second = Condition(port=DATABASE, **other)  # type: ignore[arg-type] # one of its fields
    for condition in (refusal, second) if refused_first else (second, refusal):
        impose(sim, condition)

    asking(sim, "n1", 5)
    sim.run_until(lambda: refusal.hits == 2)

    assert second.hits == 0
    assert epoch(sim) is None


def test_what_is_answered_with_an_error_has_no_reply_after_a_commit_to_lose(
    sim: Simulation,
) -> None:
    lost = impose(sim, Condition(port=DATABASE, loses_replies=True))
    broken = impose(sim, Condition(port=DATABASE, trouble=Trouble.BROKEN))

    asking(sim, "n1", 5)
    sim.run_until(lambda: broken.hits == 1)

    assert lost.hits == 0
    assert epoch(sim) is None


def test_a_condition_befalls_as_many_as_it_says(sim: Simulation) -> None:
    lost = impose(sim, Condition(port=DATABASE, loses_replies=True, left=1))
    asking(sim, "n1", 5)
    sim.run_until(lambda: epoch(sim) == 5)
    assert lost.hits == 1


def test_waiting_for_what_never_comes_says_who_else_waits(sim: Simulation) -> None:
    with pytest.raises(StillWaiting, match="2 s have passed") as caught:
        sim.run_until(lambda: False, within_s=2)
    assert "n1: the program of n1 at " in str(caught.value)


def test_waiting_where_nothing_can_happen_is_a_deadlock() -> None:
    with Simulation(7) as empty, pytest.raises(Deadlock, match="Nothing can run any more"):
        empty.run_until(lambda: False)
