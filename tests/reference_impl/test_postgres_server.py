"""The embedded server: restarts on its port, keeps its data, and never outlives its owner."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import reference_impl
from reference_impl.control_plane.lines import request_of
from reference_impl.control_plane.migrations import install
from reference_impl.control_plane.postgres import PostgresControlPlane
from reference_impl.control_plane.server import PostgresServer, ServerError
from reference_impl.ports.control_plane import BoundaryError

ROOT = Path(reference_impl.__file__).parent.parent

OWNER = """
import sys
from reference_impl.control_plane.server import PostgresServer
server = PostgresServer().start()
print(server.pid, server.folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    with PostgresServer() as running:
        yield running


def wait_until_gone(pid: int, folder: Path) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not Path(f"/proc/{pid}").exists() and not folder.exists():
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_a_server_whose_owner_is_killed_stops_and_removes_its_folder() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    pid, folder = owner.stdout.readline().decode().split()
    os.kill(owner.pid, signal.SIGKILL)
    owner.communicate()
    assert wait_until_gone(int(pid), Path(folder))


def test_a_control_plane_survives_a_crash_of_its_database(
    own_server: PostgresServer, runner: asyncio.Runner
) -> None:
    dsn = own_server.create_database()
    install(dsn)
    log = {"topic": "t", "partition": 0}
    look = request_of({"f": "get_diskless_log_start_offset", **log})

    async def story() -> None:
        plane = PostgresControlPlane(dsn)
        await plane.call(request_of({"f": "create_log", **log}))
        await plane.call(request_of({"f": "register_leader_epoch", **log, "leader_epoch": 5}))
        own_server.crash()
        for _ in range(2):
            (lost,) = (await plane.call(look)).partitions
            assert lost.error is BoundaryError.REQUEST_TIMED_OUT
        own_server.start()
        (found,) = (await plane.call(look)).partitions
        assert found.epoch == 5
        await plane.close()

    runner.run(story())


def test_a_server_comes_back_on_its_port(own_server: PostgresServer) -> None:
    before = own_server.port
    own_server.stop()
    own_server.start()
    assert own_server.port == before
    psycopg.connect(own_server.dsn()).close()


def test_starting_a_running_server_changes_nothing(own_server: PostgresServer) -> None:
    before = own_server.pid
    assert own_server.start().pid == before


def test_a_stopped_server_has_no_process(own_server: PostgresServer) -> None:
    own_server.stop()
    with pytest.raises(ServerError, match="not running"):
        _ = own_server.pid
    own_server.start()


def test_databases_get_names_of_their_own(own_server: PostgresServer) -> None:
    dsns = [own_server.create_database() for _ in range(3)]
    assert len(set(dsns)) == 3
    own_server.drop_database(dsns[0])
    assert own_server.create_database() not in dsns[1:]


def test_a_given_folder_keeps_its_data() -> None:
    # Not tmp_path: pytest keeps its folders closed to others, and under root the server is another.
    with tempfile.TemporaryDirectory(prefix="tidemark-test-") as name:
        with PostgresServer(Path(name)) as first:
            first.create_database("kept")
        with PostgresServer(Path(name)) as second:
            psycopg.connect(second.dsn("kept")).close()
        assert Path(name).exists()


def test_a_server_that_cannot_start_shows_its_log(own_server: PostgresServer) -> None:
    second = PostgresServer()
    second.port = own_server.port
    with pytest.raises(ServerError, match="Address already in use"):
        second.start()
    assert not second.folder.exists()
