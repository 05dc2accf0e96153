"""The nemesis begins faults, writes down what they did, and ends them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fake_deployment import FakeDeployment

from harness.deployments.deployment import Role
from harness.errors import UsageError
from harness.steps.player import Player
from harness.steps.step import read_steps
from nemesis.nemesis import Nemesis
from nemesis.steps import NemesisSteps


@pytest.fixture
def on() -> FakeDeployment:
    return FakeDeployment()


@pytest.fixture
def nemesis(on: FakeDeployment) -> Nemesis:
    return Nemesis(on)  # type: ignore[arg-type]


def begin(nemesis: Nemesis, name: str, target: str = "", **options: Any) -> Any:
    return asyncio.run(nemesis.begin(name, target, **options))


def end(nemesis: Nemesis, active: Any) -> None:
    asyncio.run(nemesis.end(active))


def test_a_fault_that_acts_leaves_begin_landed_and_an_end_before_it_is_lifted(on, nemesis) -> None:
    cut = begin(nemesis, "cut", "broker-1 -> broker-2", part="a/part")
    on.levers.pulled[0].counts["deliveries_held"] = 2
    nemesis.look()
    nemesis.look()
    end(nemesis, cut)

    assert on.log == [
        "begin cut on broker-1 → broker-2 a/part",
        "cut ('broker-1',) ('broker-2',)",
        "landed cut {'deliveries_held': 2}",
        "end cut",
        "release cut ('broker-1',) ('broker-2',)",
    ]
    assert on.recorder.plan_part is None


def test_a_fault_that_never_acted_has_no_landed_line(on, nemesis) -> None:
    end(nemesis, begin(nemesis, "control-plane-refused"))

    assert not [line for line in on.log if line.startswith("landed")]


def test_a_count_that_comes_last_is_still_written_before_the_end(on, nemesis) -> None:
    slow = begin(nemesis, "object-store-slow", "client a")
    on.levers.pulled[0].counts["calls_delayed"] = 1
    end(nemesis, slow)

    assert on.log[-3:] == [
        "landed object-store-slow {'calls_delayed': 1}",
        "end object-store-slow",
        "release slow object-store 0.5 client-a",
    ]


def test_an_assumption_is_suspended_until_the_cluster_was_at_rest_after_the_end(
    on, nemesis
) -> None:
    before = on.now_ns()
    pause = begin(nemesis, "pause", "broker-1")
    assert on.log[0] == "suspend one-leader"
    nemesis.resume_assumptions()
    end(nemesis, pause)
    nemesis.resume_assumptions(before)
    assert "resume one-leader" not in on.log

    nemesis.resume_assumptions(on.now_ns())
    nemesis.resume_assumptions()

    assert on.log.count("resume one-leader") == 1


@pytest.mark.parametrize(
    ("fault", "target", "suspended"),
    [
        ("kill", "broker-1", ["suspend replica-up"]),
        ("kill", "controller", ["suspend one-leader"]),
        ("kill", "client a", []),
        ("cut", "broker-1", ["suspend one-leader"]),
        ("cut", "broker-1 <-> broker-2", []),
        ("object-store-refused", "broker-1", []),
    ],
)
def test_what_is_suspended_depends_on_whom_a_fault_hits(
    on, nemesis, fault: str, target: str, suspended: list[str]
) -> None:
    begin(nemesis, fault, target)

    assert [line for line in on.log if line.startswith("suspend")] == suspended


def test_a_controller_that_is_only_the_end_of_links_is_cut_off_like_any_other(on, nemesis) -> None:
    on.without = (Role.CONTROLLER,)
    on.levers.further_ends = ("controller",)

    begin(nemesis, "cut", "broker-1 -> everything else")

    assert on.log[0] == "suspend one-leader"


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (("kill", "broker-1"), ("kill", "broker-1")),
        (("kill", "broker-1"), ("pause", "broker-1")),
        (("pause", "broker-1"), ("restart", "broker-1")),
        (("cut", "broker-1 -> broker-2"), ("cut", "broker-1 → broker-2")),
        (("lose-reply", "client a"), ("lose-reply", "client a -> control-plane")),
    ],
)
def test_a_fault_in_force_there_or_on_a_dead_node_is_out_of_place(on, nemesis, first, then) -> None:
    begin(nemesis, *first)
    log = list(on.log)

    again = begin(nemesis, *then)
    end(nemesis, again)

    assert again.out_of_place
    assert on.log == log


def test_a_node_that_ended_by_itself_is_not_killed(on, nemesis) -> None:
    on.ended = ["broker-2"]

    assert begin(nemesis, "kill", "broker-2").out_of_place == "broker-2 is down"
    assert begin(nemesis, "kill", "all brokers").target.nodes == ("broker-1", "broker-3")


def test_other_faults_may_overlap_and_the_newest_is_healed_first(on, nemesis) -> None:
    begin(nemesis, "cut", "broker-1 -> broker-2")
    begin(nemesis, "kill", "broker-1")
    begin(nemesis, "control-plane-refused")
    on.levers.pulled[1].broken = True
    del on.log[:]

    with pytest.raises(RuntimeError, match="kill"):
        asyncio.run(nemesis.heal_all())

    assert [line for line in on.log if line.startswith("end")] == [
        "end control-plane-refused",
        "end kill",
        "end cut",
    ]
    assert on.log[-1].startswith("release cut")
    assert nemesis.active == ()


def test_a_node_that_is_killed_stands_still_no_longer(on, nemesis) -> None:
    pause = begin(nemesis, "pause", "client a")
    begin(nemesis, "kill", "client a")

    assert on.log[2:] == [
        "end pause",
        "begin kill on client-a",
        "kill client-a",
        "release pause client-a",
    ]
    assert not pause.in_force


def test_one_transaction_of_a_held_request_goes_through_and_the_hold_stays(on, nemesis) -> None:
    assert begin(nemesis, "split-request", "client a").out_of_place
    hold = begin(nemesis, "hold-request", "client a")
    on.levers.pulled[0].counts["requests_held"] = 1
    nemesis.look()

    begin(nemesis, "split-request", "client a")

    assert on.log[2:] == [
        "landed hold-request {'requests_held': 1}",
        "begin split-request on client-a → control-plane",
        "landed split-request {'transactions_passed': 1}",
        "end split-request",
    ]
    assert hold.in_force


def test_a_held_request_that_is_dropped_is_held_no_longer(on, nemesis) -> None:
    hold = begin(nemesis, "hold-request", "client a")
    on.levers.pulled[0].counts["requests_held"] = 1

    begin(nemesis, "drop-request", "client a")

    assert on.log[3:] == [
        "end hold-request",
        "begin drop-request on client-a → control-plane",
        "landed drop-request {'requests_dropped': 1}",
        "end drop-request",
    ]
    assert not hold.in_force


def test_a_lever_that_fails_leaves_no_fault_in_force(on, nemesis, monkeypatch) -> None:
    async def refuses(node: str) -> None:
        raise RuntimeError(node)

    monkeypatch.setattr(on.levers, "kill", refuses, raising=False)
    with pytest.raises(RuntimeError):
        begin(nemesis, "kill", "broker-1")

    assert on.log[-2:] == ["begin kill on broker-1", "end kill"]
    assert nemesis.active == ()


def test_what_no_table_knows_is_refused(on, nemesis) -> None:
    with pytest.raises(UsageError, match="no fault 'kil'"):
        begin(nemesis, "kil", "broker-1")
    with pytest.raises(UsageError, match="no option 'second'"):
        begin(nemesis, "delay", "broker-1", second=1)
    on.levers.offered = frozenset()
    with pytest.raises(UsageError, match="nothing here can kill"):
        begin(nemesis, "kill", "broker-1")


def test_a_node_is_down_once_an_effect_has_killed_it_and_not_before(on, nemesis) -> None:
    killing = begin(nemesis, "effect-kill", "client a")
    end(nemesis, begin(nemesis, "pause", "client a"))

    on.levers.pulled[0].counts["orders_obeyed"] = 1
    assert begin(nemesis, "pause", "client a").out_of_place == "client-a is down"
    end(nemesis, killing)
    assert not begin(nemesis, "pause", "client a").out_of_place


def test_a_fault_that_could_not_be_ended_in_time_fails_the_step_after_it(on, nemesis) -> None:
    steps = NemesisSteps(on, nemesis)
    player = Player(on.recorder, [steps])

    async def play() -> None:
        await player.play(read_steps("nemesis kill target=broker-1 lasts=0"))
        on.levers.pulled[0].broken = True
        await asyncio.gather(*steps._healing, return_exceptions=True)
        await player.play(read_steps("nemesis heal-all"))

    with pytest.raises(RuntimeError, match="kill broker-1"):
        asyncio.run(play())


def played(on: FakeDeployment, nemesis: Nemesis, text: str) -> list[str]:
    """What ended, and on whom."""
    player = Player(on.recorder, [NemesisSteps(on, nemesis)])  # type: ignore[arg-type]
    asyncio.run(player.play(read_steps(text)))
    return [line for line in on.log if line.startswith("release")]


def test_of_two_faults_of_one_name_the_one_ends_whose_target_is_named_as_it_was_asked_for(
    on, nemesis
) -> None:
    released = played(
        on,
        nemesis,
        """
        nemesis kill target="everything but broker-1"
        nemesis kill target=broker-1
        nemesis end fault=kill target="everything but broker-1"
        """,
    )

    assert [active.target.label for active in nemesis.active] == ["broker-1"]
    assert "release kill broker-1" not in released


def test_the_end_of_a_fault_that_no_step_asked_for_is_a_mistake(on, nemesis) -> None:
    with pytest.raises(UsageError, match="no kill was begun on 'broker-2'; on broker-1"):
        played(
            on,
            nemesis,
            "nemesis kill target=broker-1\nnemesis end fault=kill target=broker-2",
        )


def test_the_end_of_a_fault_that_was_out_of_place_is_skipped(on, nemesis) -> None:
    on.ended = ["broker-1"]

    assert not played(
        on,
        nemesis,
        "nemesis kill target=broker-1\nnemesis end fault=kill target=broker-1",
    )
