"""However a lab in containers ends, in the middle of whatever fault, nothing of it is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.deployments.docker.engine import RUN, OwnedObjects, connect
from harness.processes.table import children

pytestmark = pytest.mark.docker

ROOT = Path(__file__).parents[2]
GONE_S = 30.0
LAB = """
import asyncio, signal, sys
from harness.deployments.docker.deployed import open_docker
from harness.deployments.plan import DeploymentPlan
from harness.history import Run

async def hurt(system, lever, arguments):
    if lever != "nothing":
        options = {"both": True} if lever == "cut" else {}
        await getattr(system.levers, lever)(*arguments, **options)
    print("hurt", flush=True)
    await asyncio.Event().wait()

signal.signal(signal.SIGINT, signal.default_int_handler)
folder, lever, *arguments = sys.argv[1:]
of_services = lever in ("kill_service", "fail")
plan = DeploymentPlan(
    brokers=0 if of_services else 1,
    control_plane="postgres" if of_services else None,
    object_store="s3" if of_services else None,
    own_database=True,
)
run = Run.create(folder + "/run", run=folder, sut="reference", world="docker")
with open_docker(run, plan) as system:
    asked = [one.split("+") if lever == "cut" else one for one in arguments]
    system.run(hurt(system, lever, asked))
"""
FAULTS = [
    ("nothing",),
    ("kill", "broker-1"),
    ("stop", "broker-1"),
    ("wipe", "broker-1"),
    ("pause", "broker-1"),
    ("cut", "broker-1", "controller"),
    ("disk_full", "broker-1"),
    ("kill_service", "control-plane"),
    ("kill_service", "object-store"),
    ("fail", "object-store"),
]


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    client = connect()
    yield client
    client.close()


@pytest.fixture(scope="module")
def bystander(engine: Any) -> Iterator[Any]:
    """Another lab's things, which nobody may touch."""
    with OwnedObjects("bystander") as owned:
        owned.make_network()
        yield owned


def of_run(engine: Any, run: str) -> list[str]:
    """What is there with the label of a run."""
    mine = {"label": f"{RUN}={run}"}
    found = [*engine.networks.list(filters=mine), *engine.volumes.list(filters=mine)]
    found += engine.containers.list(all=True, filters=mine, ignore_removed=True)
    return [one.name for one in found]


def started(folder: Path, *fault: str) -> subprocess.Popen[bytes]:
    """A lab in the middle of a fault."""
    lab = subprocess.Popen(
        [sys.executable, "-c", LAB, str(folder), *fault],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert lab.stdout is not None
    assert lab.stdout.readline() == b"hurt\n"
    return lab


def wait_until_gone(engine: Any, run: str) -> None:
    deadline = time.monotonic() + GONE_S
    while left := of_run(engine, run):
        assert time.monotonic() < deadline, f"left: {left}"
        time.sleep(0.1)
    assert "tidemark" not in rules_of_this_machine()


def rules_of_this_machine() -> str:
    """The packet filter outside of all containers."""
    if os.geteuid() != 0 or shutil.which("iptables-save") is None:
        return ""
    return subprocess.run(["iptables-save"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("fault", FAULTS, ids="-".join)
def test_a_lab_that_is_killed_in_a_fault_leaves_nothing(
    engine: Any, bystander: OwnedObjects, tmp_path: Path, fault: tuple[str, ...]
) -> None:
    with started(tmp_path, *fault) as lab:
        assert of_run(engine, str(tmp_path))
        lab.kill()
    wait_until_gone(engine, str(tmp_path))
    assert of_run(engine, "bystander") == [bystander.name]


def test_ctrl_c_leaves_nothing(engine: Any, tmp_path: Path) -> None:
    with started(tmp_path, "cut", "broker-1", "controller") as lab:
        lab.send_signal(signal.SIGINT)
        lab.wait(60)
    assert of_run(engine, str(tmp_path)) == []


def test_the_next_lab_cleans_up_where_the_watcher_was_killed_too(
    engine: Any, bystander: OwnedObjects, tmp_path: Path
) -> None:
    with started(tmp_path, "pause", "broker-1") as lab:
        watchers = [pid for pid in children(lab.pid) if _is_watcher(pid)]
        for pid in watchers:
            os.kill(pid, signal.SIGKILL)
        lab.kill()
    assert watchers
    assert of_run(engine, str(tmp_path))
    with OwnedObjects("next"):
        assert of_run(engine, str(tmp_path)) == []
        assert of_run(engine, "bystander") == [bystander.name]


def _is_watcher(pid: int) -> bool:
    return b"docker.watcher" in Path(f"/proc/{pid}/cmdline").read_bytes()
