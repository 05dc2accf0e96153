"""However a lab ends, nothing that it started outlives it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]

LAB = """
import os, signal, sys
from pathlib import Path
from harness.history import Run
from harness.sut import reference_sut
from harness.workloads import parse
from harness.worlds import open_world
from harness.worlds.database import shared_server

run = Run.create(sys.argv[1], run="1", sut="reference", world="process")
with open_world("process", run=run, sut=reference_sut(), seed=1) as world:
    world.play(parse("a call create\\nb call get\\nb pause\\na hold get"))
    clients = world._transport._clients.values()
    pids = [client.program.pid for client in clients]
    print(*pids, shared_server().pid, flush=True)
    if sys.argv[2] == "crash":
        raise ZeroDivisionError
    if sys.argv[2] == "exit":
        os._exit(1)
    signal.pause()
"""


@pytest.mark.parametrize(
    ("ending", "number"),
    [
        ("wait", signal.SIGINT),
        ("wait", signal.SIGTERM),
        ("wait", signal.SIGKILL),
        ("crash", None),
        ("exit", None),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGKILL", "exception", "sudden exit"],
)
def test_agents_and_server_end_with_the_lab(
    tmp_path: Path, ending: str, number: signal.Signals | None
) -> None:
    lab = subprocess.Popen(
        [sys.executable, "-c", LAB, str(tmp_path / "run"), ending],
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
        if number is not None:
            lab.send_signal(number)
        lab.wait(20)
    for handle in handles:
        ended, _, _ = select.select([handle], [], [], 20)
        os.close(handle)
        assert ended, f"something of {pids} is still running"


def _handle(pid: int) -> int | None:
    """A descriptor that becomes readable when the process ends; None if it has ended."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None
