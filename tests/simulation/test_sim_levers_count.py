"""What levers of a simulated cluster count: what they did, where they did it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

import pytest
from small_cluster import ask, asked, cluster

from harness.levers import has_acted
from harness.simulation.gate import Act
from harness.simulation.lever import SimLever
from harness.simulation.simulation import Simulation

DATABASE, STORE = "control_plane", "object_store"


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation(7) as made:
        yield cluster(made)


def _next_effect(act: Act, sim: Simulation) -> SimLever:
    return sim.levers.at_effect("n1", sim.effects.counts["n1"] + 1, act)


def _outage(how: str, port: str, sim: Simulation) -> SimLever:
    more = {"seconds": 1} if how == "slow" else {}
    lever: SimLever = getattr(sim.levers, how)(port, **more)
    return lever


def _damage(how: Literal["vanished", "torn", "corrupt"], sim: Simulation) -> SimLever:
    return sim.levers.damage(how, "key")


# What is pulled, and what it counts once the node is asked.
COUNTED: dict[str, tuple[Callable[[Simulation], SimLever], str]] = {
    "pause": (lambda sim: sim.levers.pause("n1"), "callbacks_stalled"),
    "cut": (lambda sim: sim.levers.cut("lab", "n1"), "deliveries_held"),
    "hold": (lambda sim: sim.levers.hold("lab", "n1"), "deliveries_held"),
    "delay": (lambda sim: sim.levers.delay("lab", "n1", 1), "deliveries_delayed"),
    "full disk": (lambda sim: sim.levers.disk_full("n1"), "writes_without_room"),
    "slow disk": (lambda sim: sim.levers.disk_slow("n1", 1), "calls_delayed"),
    "failing disk": (lambda sim: sim.levers.disk_failing("n1"), "calls_failed"),
    "failing sync": (lambda sim: sim.levers.sync_failing("n1"), "syncs_failed"),
    "shifted clock": (lambda sim: sim.levers.shift_clock("n1", 5), "clock_reads"),
    "drifting clock": (lambda sim: sim.levers.drift_clock("n1", 2.0), "clock_reads"),
    "disturb": (lambda sim: sim.levers.disturb(DATABASE), "calls_given_up"),
    **{
        f"{how} of the {port}": (partial(_outage, how, port), count)
        for port in (DATABASE, STORE)
        for how, count in {
            "slow": "calls_delayed",
            "refuse": "refusals",
            "fail": "errors_answered",
            "lose_replies": "replies_dropped",
            "drop_requests": "requests_dropped",
            "kill_service": "calls_broken",
        }.items()
    },
    **{
        how: (partial(_damage, how), count)
        for how, count in {
            "vanished": "reads_missed",
            "torn": "reads_torn",
            "corrupt": "reads_corrupt",
        }.items()
    },
    **{act.value: (partial(_next_effect, act), "orders_obeyed") for act in Act},
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_lever_counts_nothing_until_it_acts(sim: Simulation, name: str) -> None:
    ask(sim, "n2", "put key value")
    ask(sim, "n1", "append x")
    sim.advance(1)  # their connections are closed
    pull, count = COUNTED[name]
    lever = pull(sim)
    assert not has_acted(lever.counts)

    for question in ("append x", "sync", "get key", "register 3", "now"):
        sim.spawn(asked(sim.lab, "n1", question)).add_done_callback(lambda done: done.exception())
    sim.advance(30)

    assert lever.counts[count] > 0
    lever.release()


@pytest.mark.parametrize("lever", ["kill", "lose_power", "wipe"])
def test_a_lever_that_ends_a_process_counts_it_at_once(sim: Simulation, lever: str) -> None:
    assert getattr(sim.levers, lever)("n1").counts["processes_ended"] == 1


@pytest.mark.parametrize("how", ["vanished", "torn", "corrupt"])
def test_a_damaged_object_counts_the_reads_that_meet_it(sim: Simulation, how: str) -> None:
    ask(sim, "n1", "put key value")
    damage = sim.levers.damage(how, "key")
    sim.advance(1)
    assert not has_acted(damage.counts)

    assert ask(sim, "n2", "get key") != "value"

    assert has_acted(damage.counts)
    damage.release()
    assert ask(sim, "n2", "get key") == "value"


def test_a_lever_is_released_once_and_then_counts_no_more(sim: Simulation) -> None:
    first = sim.levers.kill("n1")
    first.release()
    second = sim.levers.kill("n1")
    first.release()
    assert not sim.nodes["n1"].up

    second.release()
    refused = sim.levers.refuse(STORE)
    ask(sim, "n2", "put key value")
    refused.release()
    ask(sim, "n2", "put key value")
    assert refused.counts == {"refusals": 1}
