"""What the lab starts can be stopped where SIGINT was inherited as ignored: a background job."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
WITHIN_S = 120.0
IGNORING_SIGINT = ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "background"]
STOPPED = 130

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@contextmanager
def in_the_background(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python program of ours, started with SIGINT ignored; killed if it is still there."""
    with subprocess.Popen(
        [*IGNORING_SIGINT, sys.executable, "-m", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    ) as program:
        try:
            yield program
        finally:
            program.kill()


def line_of(program: subprocess.Popen[bytes], beginning: bytes) -> bytes:
    """The first line that begins so; the program must print it in time."""
    assert program.stdout is not None
    while select.select([program.stdout], [], [], WITHIN_S)[0]:
        line = program.stdout.readline()
        if not line or line.startswith(beginning):
            return line
    raise TimeoutError(beginning)


def descendants(pid: int) -> list[int]:
    """Whatever it started, and what that started."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has just ended
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rpartition(")")[2].split()[1]
            )
    found = [pid]
    for parent in found:
        found += [child for child, its in parents.items() if its == parent]
    return found[1:]


def all_end(handles: Sequence[int]) -> bool:
    """Whether all these processes end in time."""
    return all(select.select([handle], [], [], WITHIN_S)[0] for handle in handles)


@BOTH
def test_a_node_stops_in_good_order(number: signal.Signals, tmp_path: Path) -> None:
    node = ["controller", "--node-id", "3000", "--cluster-id", "c", "--listen", "127.0.0.1:0"]
    with in_the_background("reference_impl", *node, "--data", str(tmp_path)) as program:
        assert line_of(program, b"{")
        program.send_signal(number)
        assert program.wait(WITHIN_S) == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, STOPPED), (signal.SIGTERM, -15)])
def test_an_agent_stops(number: signal.Signals, code: int) -> None:
    agent = ("reference_impl", "control-plane", "--dsn", "memory:")
    with in_the_background(*agent) as program:
        assert program.stdin is not None
        program.stdin.write(b"{}\n")
        assert line_of(program, b"{")
        program.send_signal(number)
        assert program.wait(WITHIN_S) == code


@BOTH
def test_certify_stops_and_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    options = ("--world", "process", "--engine", "inline", "--out", str(tmp_path / "run"))
    with in_the_background("harness.cli", "certify", *options) as lab:
        assert line_of(lab, b"smoke")
        handles = [os.pidfd_open(pid) for pid in descendants(lab.pid)]
        assert len(handles) > 1
        lab.send_signal(number)
        assert lab.wait(WITHIN_S) == STOPPED
        assert all_end(handles)
    for handle in handles:
        os.close(handle)
