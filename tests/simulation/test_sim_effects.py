"""Effects of simulated nodes: numbered, told, and what is done to one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from small_cluster import FILE, ask, asked, cluster

from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation


class Told:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.effects: list[tuple[int, int, str, str, str]] = []

    def effect(
        self,
        node: int,
        *,
        number: int,
        port: str,
        call: str,
        args: Mapping[str, object],
        outcome: str,
    ) -> None:
        self.effects.append((node, number, port, call, outcome))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def sim(told: Told) -> Iterator[Simulation]:
    with Simulation(7, observer=told) as made:
        yield cluster(made)


def test_effects_are_numbered_and_told_by_the_port(sim: Simulation, told: Told) -> None:
    ask(sim, "n1", "append x")
    ask(sim, "n1", "put key value")

    assert told.effects == [
        (1, 1, "disk", "create", "ok"),
        (1, 2, "disk", "append", "ok"),
        (1, 3, "network", "send", "ok"),
        (1, 4, "object_store", "put", "ok"),
        (1, 5, "network", "send", "ok"),
    ]


def test_numbers_go_on_in_the_next_life(sim: Simulation, told: Told) -> None:
    ask(sim, "n1", "append x")
    sim.levers.kill("n1").release()
    sim.advance(0.1)
    ask(sim, "n1", "append x")

    assert [number for _, number, *_ in told.effects] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("act", "written"),
    [(Act.FAIL, b""), (Act.LOSE_REPLY, b"x"), (Act.KILL, b""), (Act.KILL_AFTER, b"x")],
)
def test_something_is_done_to_one_effect(sim: Simulation, act: Act, written: bytes) -> None:
    ask(sim, "n1", "read")  # makes the file
    order = sim.levers.at_effect("n1", sim.effects.counts["n1"] + 1, act)
    waiting = sim.spawn(asked(sim.lab, "n1", "append x"))
    sim.advance(1)

    assert order.counts == {"orders_obeyed": 1}
    assert sim.nodes["n1"].disk.contents() == {FILE: written}
    dies = act in (Act.KILL, Act.KILL_AFTER)
    assert sim.nodes["n1"].up is not dies
    assert isinstance(waiting.exception(), ConnectionError) if dies else waiting.result()
    order.release()
    sim.advance(1)
    assert ask(sim, "n1", "append y") == "appended"


def test_an_order_for_an_effect_that_never_comes_counts_nothing(sim: Simulation) -> None:
    order = sim.levers.at_effect("n1", 10_000, Act.KILL)
    sim.advance(10)
    assert order.counts == {"orders_obeyed": 0}
