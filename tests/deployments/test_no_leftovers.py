"""However a lab ends, nothing that it started outlives it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.register import open_register
from harness.history import Run
from harness.sut import reference_sut
from harness.workloads import BoundarySteps, parse

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]

LAB = """
import signal, sys
from harness.history import Run
from harness.sut import reference_sut
from harness.workloads import BoundarySteps, parse
from conformance.register import open_register
from harness.processes.database import shared_server
from harness.processes.signals import wait_for_signal

signal.signal(signal.SIGINT, signal.default_int_handler)
run = Run.create(sys.argv[1], run="1", sut="reference", world="process")
with open_register("process", run=run, sut=reference_sut(), seed=1) as register:
    register.play(parse("a call create\\nb call get\\nb pause\\na hold get", BoundarySteps))
    pids = [client.program.pid for client in register.deployment.clients.values()]
    print(*pids, shared_server().pid, flush=True)
    wait_for_signal()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "SIGKILL"])
def test_agents_and_server_end_with_the_lab(tmp_path: Path, number: signal.Signals) -> None:
    lab = subprocess.Popen(
        [sys.executable, "-c", LAB, str(tmp_path / "run")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with lab:
        assert lab.stdout is not None
        pids = [int(word) for word in lab.stdout.readline().split()]
        assert len(pids) == 3
        handles = [handle for pid in pids if (handle := _handle(pid)) is not None]
        lab.send_signal(number)
        try:
            lab.wait(20)
        finally:
            lab.kill()
    for handle in handles:
        _ends(handle)


def test_an_exception_in_the_middle_of_a_script_leaves_no_agent(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run", run="1", sut="reference", world="process")
    handles: list[int] = []

    def fail_halfway() -> None:
        with open_register("process", run=run, sut=reference_sut(), seed=1) as register:
            register.play(parse("a call create\nb call get\nb pause\na hold get", BoundarySteps))
            clients = register.deployment.clients.values()
            handles.extend(os.pidfd_open(client.program.pid) for client in clients)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_halfway()
    assert len(handles) == 2
    for handle in handles:
        _ends(handle)


def _ends(handle: int) -> None:
    ended, _, _ = select.select([handle], [], [], 20)
    os.close(handle)
    assert ended, "something is still running"


def _handle(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None if it has ended."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None
