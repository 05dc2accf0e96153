"""Each lever of a simulated cluster: what it does, and that its release ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from small_cluster import FILE, ask, asked, cluster

from harness.simulation.errors import NodeFailed, StillWaiting
from harness.simulation.gate import Act
from harness.simulation.lever import OutOfPlace, SimLever
from harness.simulation.simulation import Simulation

DATABASE, STORE = "control_plane", "object_store"


@pytest.fixture
def sim() -> Iterator[Simulation]:
    with Simulation(7) as made:
        yield cluster(made)


# Nodes.


def test_a_killed_node_keeps_what_it_wrote_and_refuses_connections(sim: Simulation) -> None:
    ask(sim, "n1", "append hello")
    down = sim.levers.kill("n1")

    with pytest.raises(ConnectionRefusedError):
        ask(sim, "n1", "read")
    down.release()
    sim.advance(0.1)

    assert ask(sim, "n1", "read") == "hello"


def test_a_killed_node_resets_the_connections_it_had(sim: Simulation) -> None:
    waiting = sim.spawn(asked(sim.lab, "n1", "nap 60"))
    sim.advance(0.1)

    sim.levers.kill("n1")
    sim.advance(0.1)

    assert isinstance(waiting.exception(), ConnectionError)


def test_a_node_without_power_forgets_what_was_not_synced(sim: Simulation) -> None:
    ask(sim, "n1", "append kept")
    ask(sim, "n1", "sync")
    ask(sim, "n1", "append lost")

    sim.levers.lose_power("n1", lose="all").release()
    sim.advance(0.1)

    assert ask(sim, "n1", "read") == "kept"


def test_a_node_without_power_says_nothing_to_its_peers(sim: Simulation) -> None:
    waiting = sim.spawn(asked(sim.lab, "n1", "nap 60"))
    sim.advance(0.1)

    sim.levers.lose_power("n1")
    sim.advance(30)

    assert not waiting.done()


def test_a_node_set_up_anew_has_an_empty_disk(sim: Simulation) -> None:
    ask(sim, "n1", "append hello")
    ask(sim, "n1", "sync")

    sim.levers.wipe("n1").release()
    sim.advance(0.1)

    assert ask(sim, "n1", "read") == ""


def test_a_paused_node_answers_once_it_goes_on(sim: Simulation) -> None:
    paused = sim.levers.pause("n1")
    waiting = sim.spawn(asked(sim.lab, "n1", "echo hi"))
    sim.advance(30)
    assert not waiting.done()

    paused.release()
    sim.advance(1)

    assert waiting.result() == "hi"


def test_a_request_under_way_is_carried_out_though_its_node_is_paused(sim: Simulation) -> None:
    ask(sim, "n1", "register 1")
    slow = sim.levers.slow(DATABASE, 5)
    sim.spawn(asked(sim.lab, "n1", "register 7"))
    sim.advance(6)  # the log is there, the epoch is on its way
    sim.levers.pause("n1")
    sim.advance(10)
    slow.release()

    assert sim.registers.rows()[0]["epoch"] == 7


def test_a_node_that_is_started_again_is_another_life_with_other_chance(sim: Simulation) -> None:
    first = ask(sim, "n1", "roll")
    sim.levers.kill("n1").release()
    sim.advance(0.1)

    assert ask(sim, "n1", "roll") != first


@pytest.mark.parametrize("lever", ["kill", "lose_power", "wipe", "pause"])
def test_nothing_is_done_to_a_node_that_is_down(sim: Simulation, lever: str) -> None:
    sim.levers.kill("n1")
    with pytest.raises(OutOfPlace, match="n1 is down"):
        getattr(sim.levers, lever)("n1")


def test_a_program_that_falls_over_fails_the_run(sim: Simulation) -> None:
    async def falls(_: object) -> None:
        raise LookupError("no such thing")

    sim.add("n3", falls)
    with pytest.raises(NodeFailed, match="the program of n3 ended with LookupError"):
        sim.advance(1)
    assert not sim.nodes["n3"].up


def test_a_forgiving_simulation_notes_who_ended_by_itself() -> None:
    async def falls(_: object) -> None:
        raise LookupError("no such thing")

    with Simulation(1, forgiving=True) as sim:
        sim.add("n1", falls)
        sim.advance(1)
        assert (sim.exits, sim.nodes["n1"].up) == (["n1"], False)


def test_what_a_handler_of_a_node_does_not_catch_fails_the_run(sim: Simulation) -> None:
    sim.spawn(asked(sim.lab, "n1", "fall over"))
    with pytest.raises(NodeFailed, match="RuntimeError"):
        sim.advance(1)


# Links.


def test_a_cut_link_carries_nothing_and_what_was_sent_once_it_is_whole(sim: Simulation) -> None:
    cut = sim.levers.cut("lab", "n1")
    waiting = sim.spawn(asked(sim.lab, "n1", "echo hi"))
    sim.advance(5)
    assert not waiting.done()

    cut.release()
    sim.advance(5)

    assert waiting.result() == "hi"


def test_a_link_cut_one_way_still_carries_the_other(sim: Simulation) -> None:
    waiting = sim.spawn(asked(sim.lab, "n1", "nap 1"))
    sim.advance(0.5)
    sim.levers.cut("n1", "lab", both=False)
    also = sim.spawn(asked(sim.lab, "n1", "append x"))
    sim.advance(5)

    assert not waiting.done()  # its answer does not get out
    assert not also.done()
    assert sim.nodes["n1"].disk.contents() == {}  # and no connection can be made


def test_a_held_link_lets_go_of_as_many_as_it_is_told(sim: Simulation) -> None:
    held = sim.levers.hold("lab", "n1", both=False)
    waiting = sim.spawn(asked(sim.lab, "n1", "echo hi"))
    sim.advance(0.1)

    released = 0
    while not waiting.done():
        assert held.let_go(1) == 1
        released += 1
        sim.advance(0.1)

    assert waiting.result() == "hi"
    assert released > 1


def test_a_delayed_link_takes_longer(sim: Simulation) -> None:
    sim.levers.delay("lab", "n1", 2)
    began = sim.now_ns

    ask(sim, "n1", "echo hi")

    assert sim.now_ns - began > 6_000_000_000  # there and back to connect, there and back to ask


# Disks.


def test_a_full_disk_takes_what_fits(sim: Simulation) -> None:
    ask(sim, "n1", "append 12345")
    full = sim.levers.disk_full("n1", room=2)

    assert ask(sim, "n1", "append 678") == "OSError"
    assert ask(sim, "n1", "read") == "1234567"
    full.release()
    assert ask(sim, "n1", "append 8") == "appended"


def test_a_slow_disk_is_slow_and_right(sim: Simulation) -> None:
    sim.levers.disk_slow("n1", 3)
    began = sim.now_ns

    assert ask(sim, "n1", "append x") == "appended"
    assert sim.now_ns - began > 3_000_000_000


def test_a_failing_disk_changes_nothing(sim: Simulation) -> None:
    failing = sim.levers.disk_failing("n1")

    assert ask(sim, "n1", "append x") == "OSError"
    assert sim.nodes["n1"].disk.contents() == {}
    failing.release()
    assert ask(sim, "n1", "append x") == "appended"


def test_a_sync_that_failed_has_lost_its_bytes_for_good(sim: Simulation) -> None:
    ask(sim, "n1", "sync")
    ask(sim, "n1", "append lost")
    sim.levers.sync_failing("n1", times=1)

    assert ask(sim, "n1", "sync") == "OSError"
    assert ask(sim, "n1", "sync") == "synced"
    sim.levers.lose_power("n1", lose="all")

    assert sim.nodes["n1"].disk.contents() == {FILE: b""}


def test_a_sync_that_is_made_to_fail_by_its_number_loses_its_bytes_too(sim: Simulation) -> None:
    ask(sim, "n1", "sync")
    ask(sim, "n1", "append lost")
    sim.levers.at_effect("n1", sim.effects.counts["n1"] + 1, Act.FAIL)

    assert ask(sim, "n1", "sync") == "OSError"
    assert ask(sim, "n1", "sync") == "synced"
    sim.levers.lose_power("n1", lose="all")

    assert sim.nodes["n1"].disk.contents() == {FILE: b""}


# The object store and the database.


@pytest.mark.parametrize(
    ("inject", "answer", "done"),
    [
        (lambda sim: sim.levers.refuse(STORE), "StoreUnavailable", False),
        (lambda sim: sim.levers.fail(STORE), "StoreUnavailable", False),
        (lambda sim: sim.levers.lose_replies(STORE), "StoreUnavailable", True),
        (lambda sim: sim.levers.slow(STORE, 9), "put", True),
        (lambda sim: sim.levers.refuse(STORE, "n2"), "put", True),
    ],
    ids=["refused", "broken", "replies lost", "slow", "refused to another node"],
)
def test_an_outage_of_the_object_store(
    sim: Simulation, inject: Callable[[Simulation], SimLever], answer: str, done: bool
) -> None:
    outage = inject(sim)

    assert ask(sim, "n1", "put key value") == answer
    assert sim.store.contents() == ({"key": b"value"} if done else {})
    outage.release()
    assert ask(sim, "n1", "put key value") == "put"


@pytest.mark.parametrize(
    ("inject", "answer", "epoch"),
    [
        (lambda sim: sim.levers.refuse(DATABASE), "REQUEST_TIMED_OUT", 1),
        (lambda sim: sim.levers.fail(DATABASE), "KAFKA_STORAGE_ERROR", 1),
        (lambda sim: sim.levers.disturb(DATABASE), "REQUEST_TIMED_OUT", 1),
        (lambda sim: sim.levers.lose_replies(DATABASE), "REQUEST_TIMED_OUT", 5),
        (lambda sim: sim.levers.slow(DATABASE, 9), "NONE", 5),
    ],
    ids=["refused", "broken", "disturbed", "replies lost", "slow"],
)
def test_an_outage_of_the_database(
    sim: Simulation, inject: Callable[[Simulation], SimLever], answer: str, epoch: int
) -> None:
    ask(sim, "n1", "register 1")
    outage = inject(sim)

    assert ask(sim, "n1", "register 5") == answer
    assert sim.registers.rows()[0]["epoch"] == epoch
    outage.release()
    assert ask(sim, "n1", "register 6") == "NONE"


def test_a_conflict_may_befall_only_the_next_few(sim: Simulation) -> None:
    sim.levers.disturb(DATABASE, times=2)

    answers = [ask(sim, "n1", f"register {epoch}") for epoch in (1, 2)]

    assert answers == ["REQUEST_TIMED_OUT", "NONE"]  # each registering is two calls


# Clocks.


def test_a_shifted_clock_is_right_again_once_released(sim: Simulation) -> None:
    right = int(ask(sim, "n1", "now"))
    shifted = sim.levers.shift_clock("n1", -3_600_000)
    wrong = int(ask(sim, "n1", "now"))
    shifted.release()

    assert right - wrong > 3_590_000
    assert int(ask(sim, "n1", "now")) - right < 10_000


def test_a_clock_that_runs_fast_wakes_its_node_early(sim: Simulation) -> None:
    sim.levers.drift_clock("n1", 4.0)
    began = sim.now_ns

    ask(sim, "n1", "nap 8")

    assert 2_000_000_000 < sim.now_ns - began < 2_100_000_000


# What they have in common.


def test_levers_that_overlap_end_each_by_itself(sim: Simulation) -> None:
    levers = [
        sim.levers.cut("n1", "n2"),
        sim.levers.kill("n1"),
        sim.levers.pause("n2"),
        sim.levers.refuse(STORE),
    ]
    for lever in levers:
        lever.release()
    sim.advance(20)

    assert ask(sim, "n1", "ask n2 echo hi") == "hi"
    assert ask(sim, "n1", "put key value") == "put"


def test_who_waits_for_a_paused_node_is_told_in_time(sim: Simulation) -> None:
    sim.levers.pause("n1")
    with pytest.raises(StillWaiting, match="n1 is paused"):
        ask(sim, "n1", "echo hi", within_s=5)
