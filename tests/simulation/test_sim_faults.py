"""Each fault of a simulated cluster: what it does, that it lands, and that healing ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from small_cluster import FILE, ask, asked, cluster

from harness.levers import has_acted
from harness.simulation.errors import NodeFailed, StillWaiting
from harness.simulation.faults import Fault
from harness.simulation.gate import Act
from harness.simulation.simulation import Simulation

DATABASE, STORE = "control_plane", "object_store"


class Told:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.effects: list[tuple[int, int, str, str, str]] = []
        self.faults: list[tuple[str, str, str, Mapping[str, object]]] = []

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

    def fault(self, name: str, target: str, phase: str, evidence: Mapping[str, object]) -> None:
        self.faults.append((name, target, phase, evidence))

    def phases(self, name: str) -> list[str]:
        return [phase for told, _, phase, _ in self.faults if told == name]


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def sim(told: Told) -> Iterator[Simulation]:
    with Simulation(7, observer=told) as made:
        yield cluster(made)


# Nodes.


def test_a_killed_node_keeps_what_it_wrote_and_refuses_connections(sim: Simulation) -> None:
    ask(sim, "n1", "append hello")
    down = sim.faults.kill("n1")

    with pytest.raises(ConnectionRefusedError):
        ask(sim, "n1", "read")
    down.heal()
    sim.advance(0.1)

    assert ask(sim, "n1", "read") == "hello"


def test_a_killed_node_resets_the_connections_it_had(sim: Simulation) -> None:
    waiting = sim.spawn(asked(sim.lab, "n1", "nap 60"))
    sim.advance(0.1)

    sim.faults.kill("n1")
    sim.advance(0.1)

    assert isinstance(waiting.exception(), ConnectionError)


def test_a_node_without_power_forgets_what_was_not_synced(sim: Simulation) -> None:
    ask(sim, "n1", "append kept")
    ask(sim, "n1", "sync")
    ask(sim, "n1", "append lost")

    sim.faults.lose_power("n1", lose="all").heal()
    sim.advance(0.1)

    assert ask(sim, "n1", "read") == "kept"


def test_a_node_without_power_says_nothing_to_its_peers(sim: Simulation) -> None:
    waiting = sim.spawn(asked(sim.lab, "n1", "nap 60"))
    sim.advance(0.1)

    sim.faults.lose_power("n1")
    sim.advance(30)

    assert not waiting.done()


def test_a_node_set_up_anew_has_an_empty_disk(sim: Simulation) -> None:
    ask(sim, "n1", "append hello")
    ask(sim, "n1", "sync")

    sim.faults.reimage("n1").heal()
    sim.advance(0.1)

    assert ask(sim, "n1", "read") == ""


def test_a_paused_node_answers_once_it_goes_on(sim: Simulation) -> None:
    paused = sim.faults.pause("n1")
    waiting = sim.spawn(asked(sim.lab, "n1", "echo hi"))
    sim.advance(30)
    assert not waiting.done()

    paused.heal()
    sim.advance(1)

    assert waiting.result() == "hi"


def test_a_request_under_way_is_carried_out_though_its_node_is_paused(sim: Simulation) -> None:
    ask(sim, "n1", "register 1")
    slow = sim.faults.slow(DATABASE, 5)
    sim.spawn(asked(sim.lab, "n1", "register 7"))
    sim.advance(6)  # the log is there, the epoch is on its way
    sim.faults.pause("n1")
    sim.advance(10)
    slow.heal()

    assert sim.registers.rows()[0]["epoch"] == 7


def test_a_node_that_is_started_again_is_another_life_with_other_chance(sim: Simulation) -> None:
    first = ask(sim, "n1", "roll")
    sim.faults.kill("n1").heal()
    sim.advance(0.1)

    assert ask(sim, "n1", "roll") != first


def test_a_node_that_is_down_cannot_be_killed_again(sim: Simulation, told: Told) -> None:
    sim.faults.kill("n1")
    with pytest.raises(ValueError, match="n1 is down"):
        sim.faults.kill("n1")
    assert told.phases("kill-node") == ["begin", "landed"]


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
    cut = sim.faults.cut("lab", "n1")
    waiting = sim.spawn(asked(sim.lab, "n1", "echo hi"))
    sim.advance(5)
    assert not waiting.done()

    cut.heal()
    sim.advance(5)

    assert waiting.result() == "hi"


def test_a_link_cut_one_way_still_carries_the_other(sim: Simulation) -> None:
    waiting = sim.spawn(asked(sim.lab, "n1", "nap 1"))
    sim.advance(0.5)
    sim.faults.cut("n1", "lab", both=False)
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
    sim.faults.delay("lab", "n1", 2)
    began = sim.now_ns

    ask(sim, "n1", "echo hi")

    assert sim.now_ns - began > 6_000_000_000  # there and back to connect, there and back to ask


# Disks.


def test_a_full_disk_takes_what_fits(sim: Simulation) -> None:
    ask(sim, "n1", "append 12345")
    full = sim.faults.disk_full("n1", room=2)

    assert ask(sim, "n1", "append 678") == "OSError"
    assert ask(sim, "n1", "read") == "1234567"
    full.heal()
    assert ask(sim, "n1", "append 8") == "appended"


def test_a_slow_disk_is_slow_and_right(sim: Simulation) -> None:
    sim.faults.disk_slow("n1", 3)
    began = sim.now_ns

    assert ask(sim, "n1", "append x") == "appended"
    assert sim.now_ns - began > 3_000_000_000


def test_a_failing_disk_changes_nothing(sim: Simulation) -> None:
    failing = sim.faults.disk_failing("n1")

    assert ask(sim, "n1", "append x") == "OSError"
    assert sim.nodes["n1"].disk.contents() == {}
    failing.heal()
    assert ask(sim, "n1", "append x") == "appended"


def test_a_sync_that_failed_has_lost_its_bytes_for_good(sim: Simulation) -> None:
    ask(sim, "n1", "sync")
    ask(sim, "n1", "append lost")
    sim.faults.sync_failing("n1", times=1)

    assert ask(sim, "n1", "sync") == "OSError"
    assert ask(sim, "n1", "sync") == "synced"
    sim.faults.lose_power("n1", lose="all")

    assert sim.nodes["n1"].disk.contents() == {FILE: b""}


def test_a_sync_that_is_made_to_fail_by_its_number_loses_its_bytes_too(sim: Simulation) -> None:
    ask(sim, "n1", "sync")
    ask(sim, "n1", "append lost")
    sim.faults.at_effect("n1", sim.effects.counts["n1"] + 1, Act.FAIL)

    assert ask(sim, "n1", "sync") == "OSError"
    assert ask(sim, "n1", "sync") == "synced"
    sim.faults.lose_power("n1", lose="all")

    assert sim.nodes["n1"].disk.contents() == {FILE: b""}


# The object store and the database.


@pytest.mark.parametrize(
    ("inject", "answer", "done"),
    [
        (lambda sim: sim.faults.refused(STORE), "StoreUnavailable", False),
        (lambda sim: sim.faults.broken(STORE), "StoreUnavailable", False),
        (lambda sim: sim.faults.replies_lost(STORE), "StoreUnavailable", True),
        (lambda sim: sim.faults.slow(STORE, 9), "put", True),
        (lambda sim: sim.faults.refused(STORE, "n2"), "put", True),
    ],
    ids=["refused", "broken", "replies lost", "slow", "refused to another node"],
)
def test_an_outage_of_the_object_store(
    sim: Simulation, inject: Callable[[Simulation], Fault], answer: str, done: bool
) -> None:
    outage = inject(sim)

    assert ask(sim, "n1", "put key value") == answer
    assert sim.store.contents() == ({"key": b"value"} if done else {})
    outage.heal()
    assert ask(sim, "n1", "put key value") == "put"


@pytest.mark.parametrize(
    ("inject", "answer", "epoch"),
    [
        (lambda sim: sim.faults.refused(DATABASE), "REQUEST_TIMED_OUT", 1),
        (lambda sim: sim.faults.broken(DATABASE), "KAFKA_STORAGE_ERROR", 1),
        (lambda sim: sim.faults.conflicts(DATABASE), "REQUEST_TIMED_OUT", 1),
        (lambda sim: sim.faults.replies_lost(DATABASE), "REQUEST_TIMED_OUT", 5),
        (lambda sim: sim.faults.slow(DATABASE, 9), "NONE", 5),
    ],
    ids=["refused", "broken", "conflicts", "replies lost", "slow"],
)
def test_an_outage_of_the_database(
    sim: Simulation, inject: Callable[[Simulation], Fault], answer: str, epoch: int
) -> None:
    ask(sim, "n1", "register 1")
    outage = inject(sim)

    assert ask(sim, "n1", "register 5") == answer
    assert sim.registers.rows()[0]["epoch"] == epoch
    outage.heal()
    assert ask(sim, "n1", "register 6") == "NONE"


def test_a_conflict_may_befall_only_the_next_few(sim: Simulation) -> None:
    sim.faults.conflicts(DATABASE, times=2)

    answers = [ask(sim, "n1", f"register {epoch}") for epoch in (1, 2)]

    assert answers == ["REQUEST_TIMED_OUT", "NONE"]  # each registering is two calls


@pytest.mark.parametrize("how", ["vanished", "torn", "corrupt"])
def test_a_damaged_object_lands_when_somebody_meets_it(
    sim: Simulation, told: Told, how: str
) -> None:
    ask(sim, "n1", "put key value")
    fault = sim.faults.damaged(how, "key")
    sim.advance(1)
    assert not fault.landed

    assert ask(sim, "n2", "get key") != "value"

    assert fault.landed
    assert has_acted(told.faults[-1][3])


# Clocks.


def test_a_shifted_clock_is_right_again_once_healed(sim: Simulation) -> None:
    right = int(ask(sim, "n1", "now"))
    shifted = sim.faults.shift_clock("n1", -3_600_000)
    wrong = int(ask(sim, "n1", "now"))
    shifted.heal()

    assert right - wrong > 3_590_000
    assert int(ask(sim, "n1", "now")) - right < 10_000


def test_a_clock_that_runs_fast_wakes_its_node_early(sim: Simulation) -> None:
    sim.faults.drift_clock("n1", 4.0)
    began = sim.now_ns

    ask(sim, "n1", "nap 8")

    assert 2_000_000_000 < sim.now_ns - began < 2_100_000_000


# One effect.


@pytest.mark.parametrize(
    ("act", "written"),
    [(Act.FAIL, b""), (Act.LOSE_REPLY, b"x"), (Act.KILL, b""), (Act.KILL_AFTER, b"x")],
)
def test_something_is_done_to_one_effect(sim: Simulation, act: Act, written: bytes) -> None:
    ask(sim, "n1", "read")  # makes the file
    fault = sim.faults.at_effect("n1", sim.effects.counts["n1"] + 1, act)
    waiting = sim.spawn(asked(sim.lab, "n1", "append x"))
    sim.advance(1)

    assert fault.landed
    assert sim.nodes["n1"].disk.contents() == {FILE: written}
    dies = act in (Act.KILL, Act.KILL_AFTER)
    assert sim.nodes["n1"].up is not dies
    assert isinstance(waiting.exception(), ConnectionError) if dies else waiting.result()
    fault.heal()
    sim.advance(1)
    assert ask(sim, "n1", "append y") == "appended"


def test_an_order_for_an_effect_that_never_comes_does_not_land(sim: Simulation) -> None:
    fault = sim.faults.at_effect("n1", 10_000, Act.KILL)
    sim.advance(10)
    assert not fault.landed


# What they have in common.


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
    sim.faults.kill("n1").heal()
    sim.advance(0.1)
    ask(sim, "n1", "append x")

    assert [number for _, number, *_ in told.effects] == [1, 2, 3, 4, 5]


def test_healing_everything_ends_every_fault(sim: Simulation) -> None:
    sim.faults.cut("n1", "n2")
    sim.faults.kill("n1")
    sim.faults.pause("n2")
    sim.faults.refused(STORE)

    sim.faults.heal_all()
    sim.advance(20)

    assert sim.faults.active == ()
    assert ask(sim, "n1", "ask n2 echo hi") == "hi"
    assert ask(sim, "n1", "put key value") == "put"


def test_who_waits_for_a_paused_node_is_told_in_time(sim: Simulation) -> None:
    sim.faults.pause("n1")
    with pytest.raises(StillWaiting, match="n1 is paused"):
        ask(sim, "n1", "echo hi", within_s=5)


INJECT: dict[str, Callable[[Simulation], Fault]] = {
    "kill-node": lambda sim: sim.faults.kill("n1"),
    "lose-power": lambda sim: sim.faults.lose_power("n1"),
    "reimage-node": lambda sim: sim.faults.reimage("n1"),
    "pause-node": lambda sim: sim.faults.pause("n1"),
    "cut-link": lambda sim: sim.faults.cut("lab", "n1"),
    "hold-link": lambda sim: sim.faults.hold("lab", "n1"),
    "delay-link": lambda sim: sim.faults.delay("lab", "n1", 1),
    "disk-full": lambda sim: sim.faults.disk_full("n1"),
    "disk-slow": lambda sim: sim.faults.disk_slow("n1", 1),
    "disk-failing": lambda sim: sim.faults.disk_failing("n1"),
    "sync-failing": lambda sim: sim.faults.sync_failing("n1"),
    "clock-shift": lambda sim: sim.faults.shift_clock("n1", 5),
    "clock-drift": lambda sim: sim.faults.drift_clock("n1", 2.0),
    "control-plane-slow": lambda sim: sim.faults.slow(DATABASE, 1),
    "control-plane-refused": lambda sim: sim.faults.refused(DATABASE),
    "control-plane-broken": lambda sim: sim.faults.broken(DATABASE),
    "control-plane-conflict": lambda sim: sim.faults.conflicts(DATABASE),
    "control-plane-reply-lost": lambda sim: sim.faults.replies_lost(DATABASE),
    "object-store-slow": lambda sim: sim.faults.slow(STORE, 1),
    "object-store-refused": lambda sim: sim.faults.refused(STORE),
    "object-store-broken": lambda sim: sim.faults.broken(STORE),
    "object-store-reply-lost": lambda sim: sim.faults.replies_lost(STORE),
    "object-vanished": lambda sim: sim.faults.damaged("vanished", "key"),
    "object-torn": lambda sim: sim.faults.damaged("torn", "key"),
    "object-corrupt": lambda sim: sim.faults.damaged("corrupt", "key"),
    "effect-fail": lambda sim: _next_effect(sim, Act.FAIL),
    "effect-lose-reply": lambda sim: _next_effect(sim, Act.LOSE_REPLY),
    "effect-kill": lambda sim: _next_effect(sim, Act.KILL),
    "effect-kill-after": lambda sim: _next_effect(sim, Act.KILL_AFTER),
}
BITES_AT_ONCE = ("kill-node", "lose-power", "reimage-node")


def _next_effect(sim: Simulation, act: Act) -> Fault:
    return sim.faults.at_effect("n1", sim.effects.counts["n1"] + 1, act)


@pytest.mark.parametrize("name", INJECT)
def test_a_fault_lands_only_when_it_bites_and_says_so_as_the_table_does(
    sim: Simulation, told: Told, name: str
) -> None:
    ask(sim, "n2", "put key value")
    ask(sim, "n1", "append x")
    fault = INJECT[name](sim)
    assert (fault.name, fault.landed) == (name, name in BITES_AT_ONCE)

    for question in ("append x", "sync", "get key", "register 3", "now"):
        sim.spawn(asked(sim.lab, "n1", question)).add_done_callback(lambda done: done.exception())
    sim.advance(30)
    fault.heal()

    assert told.phases(name) == ["begin", "landed", "end"]
    landed = next(evidence for _, _, phase, evidence in told.faults if phase == "landed")
    assert has_acted(landed)
