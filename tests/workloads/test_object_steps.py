"""Clients of the object store on a simulated deployment: what they do is recorded and judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.deployments.plan import DeploymentPlan
from harness.deployments.sim import open_sim
from harness.history import Run, read_history
from harness.history.lines import Event
from harness.steps.player import Player
from harness.steps.step import read_steps
from harness.workloads.look_steps import LookSteps
from harness.workloads.object_steps import ObjectSteps
from nemesis.nemesis import Nemesis
from spark_checkers.linearizability import model_named, search_events


def played(folder: Path, text: str, *faults: str) -> list[Event]:
    run = Run.create(folder / "run", run="1", sut="reference", world="sim", seed=1)
    with open_sim(run, DeploymentPlan(brokers=0, object_store="memory"), seed=1) as system:
        player = Player(system.recorder, [ObjectSteps(system), LookSteps(system)])
        nemesis = Nemesis(system)

        async def play() -> None:
            await player.play(read_steps("w put key=a value=first"))
            for fault in faults:
                await nemesis.begin(fault, "a" if fault.startswith("object-c") else "")
            await player.play(read_steps(text))
            await nemesis.heal_all()

        system.run(play())
    run.seal()
    return list(read_history(run.folder / "history.jsonl").events)


def ends(events: list[Event]) -> list[tuple[str, str, object]]:
    done = [one for one in events if one["kind"] == "op" and one["type"] != "invoke"]
    return [(one["f"], one["type"], one.get("value")) for one in done]


def test_what_is_put_is_read_and_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    events = played(tmp_path, "r get key=a\nr get key=b\nlab look what=objects")

    assert ends(events)[1:] == [("get", "ok", "first"), ("get", "ok", None)]
    assert [one["rows"] for one in events if one["kind"] == "probe"] == [[{"key": "a", "size": 5}]]
    assert search_events(events, model_named("kv")) == []


@pytest.mark.parametrize(
    ("fault", "put", "get"),
    [("object-store-refused", "info", "fail"), ("object-store-reply-lost", "info", "fail")],
)
def test_an_outage_leaves_puts_unknown_and_gets_without_effect(
    tmp_path: Path, fault: str, put: str, get: str
) -> None:
    events = played(tmp_path, "w put key=a value=second\nr get key=a", fault)

    assert [end[1] for end in ends(events)[1:]] == [put, get]
    assert search_events(events, model_named("kv")) == []


def test_a_corrupt_object_is_seen_by_the_judge(tmp_path: Path) -> None:
    events = played(tmp_path, "r get key=a", "object-corrupt")

    assert len(search_events(events, model_named("kv"))) == 1
