"""Levers and probes on processes that really run, counted by the kernel."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_nodes import SleepingNodes

from harness.deployments.deployment import Role
from harness.deployments.live import LiveDeployment
from harness.errors import LabBroken, UsageError
from harness.history import Run
from harness.levers import Lever

NAMES = ("controller", "broker-1", "broker-2")


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[SleepingNodes]:
    found = SleepingNodes(tmp_path / "disks", *NAMES)
    yield found
    found.close()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run", run="1", sut="sleepers", world="process")


@pytest.fixture
def system(run: Run, nodes: SleepingNodes) -> Iterator[LiveDeployment]:
    with LiveDeployment(run, nodes, world="process", brokers=(1, 2)) as deployed:
        yield deployed


def states(system: LiveDeployment) -> dict[str, tuple[object, object]]:
    rows = system.run(system.probe("nodes"))
    return {str(row["node"]): (row["state"], row["on_purpose"]) for row in rows}


def acted(system: LiveDeployment, lever: Lever) -> dict[str, int]:
    system.run(lever.acted())
    return dict(lever.counts)


def test_a_killed_node_is_missed_on_purpose_until_it_was_started_again(
    system: LiveDeployment,
) -> None:
    lever = system.run(system.levers.kill("broker-1"))

    assert acted(system, lever) == {"processes_ended": 1}
    assert states(system)["broker-1"] == ("ended", True)
    system.run(lever.release())
    system.run(lever.release())
    assert states(system)["broker-1"] == ("running", False)


def test_killing_a_node_that_ended_by_itself_counts_nothing(
    system: LiveDeployment, nodes: SleepingNodes
) -> None:
    nodes.kill("broker-1")
    assert states(system)["broker-1"] == ("ended", False)

    lever = system.run(system.levers.kill("broker-1"))

    assert lever.counts == {"processes_ended": 0}


def test_a_node_stays_down_until_the_last_lever_that_keeps_it_down_is_released(
    system: LiveDeployment,
) -> None:
    killed = system.run(system.levers.kill("broker-1"))
    wiped = system.run(system.levers.wipe("broker-1"))

    system.run(killed.release())
    assert states(system)["broker-1"] == ("ended", True)
    system.run(wiped.release())
    assert states(system)["broker-1"] == ("running", False)


def test_a_wipe_counts_the_bytes_that_were_on_the_disk(
    system: LiveDeployment, nodes: SleepingNodes
) -> None:
    (nodes.folder / "broker-2" / "0.log").write_bytes(b"x" * 70)
    assert {"node": "broker-2", "file": "0.log", "size": 70} in system.run(system.probe("files"))

    lever = system.run(system.levers.wipe("broker-2"))

    assert lever.counts == {"processes_ended": 1, "bytes_wiped": 70}
    assert system.run(system.probe("files")) == []


def test_a_node_that_does_not_come_back_is_no_error_of_the_lab(
    system: LiveDeployment, nodes: SleepingNodes
) -> None:
    lever = system.run(system.levers.kill("controller"))
    nodes.never_ready.add("controller")

    system.run(lever.release())

    assert states(system)["controller"] == ("running", False)


def test_a_pause_counts_threads_that_the_kernel_has_stopped(system: LiveDeployment) -> None:
    first = system.run(system.levers.pause("broker-1"))
    second = system.run(system.levers.pause("broker-1"))
    assert acted(system, first) == acted(system, second) == {"threads_stopped": 1}

    system.run(first.release())
    third = system.run(system.levers.pause("broker-1"))
    assert third.counts == {"threads_stopped": 1}


def test_a_pause_that_something_else_undid_has_not_acted(
    system: LiveDeployment, nodes: SleepingNodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "pause", lambda name: os.kill(nodes.pid(name) or 0, signal.SIGCONT))

    lever = system.run(system.levers.pause("broker-1"))

    assert lever.counts == {"threads_stopped": 0}


def test_what_cannot_be_done_is_not_offered_and_refused(system: LiveDeployment) -> None:
    assert system.levers.offered == {"kill", "wipe", "pause"}
    with pytest.raises(LabBroken, match="cut is not offered here; offered: kill, pause, wipe"):
        system.run(system.levers.cut(["broker-1"], ["broker-2"], both=True))
    assert system.probes == {"nodes", "files"}
    with pytest.raises(UsageError, match="metrics cannot be looked at here; what can: files"):
        system.run(system.probe("metrics"))


def test_several_runs_share_one_loop(system: LiveDeployment) -> None:
    client = system.run(system.client("p1"))

    assert system.run(system.client("p1")) is client
    assert system.nodes(Role.CLIENT) == ("client-p1",)
    assert system.nodes(Role.BROKER) == ("broker-1", "broker-2")
    assert system.nodes(Role.OBJECT_STORE) == ()
