"""The embedded S3 server: answers only whoever has its keys, and never outlives its owner."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from harness.errors import LabBroken
from harness.processes import s3_server
from harness.processes.s3_server import SeaweedServer
from reference_impl.live.object_store import open_object_store
from reference_impl.ports.object_store import AlreadyExists, ObjectNotFound

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]

OWNER = """
import os, signal
from harness.processes.signals import wait_for_signal
from harness.processes.s3_server import SeaweedServer

signal.signal(signal.SIGINT, signal.default_int_handler)
server = SeaweedServer().start()
print(server.pid, server._watcher.pid, os.readlink(f"/proc/{server.pid}/cwd"), flush=True)
wait_for_signal()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[SeaweedServer]:
    with SeaweedServer() as running:
        yield running


def folder_of(server: SeaweedServer) -> Path:
    return Path(os.readlink(f"/proc/{server.pid}/cwd"))


def sockets_of(pid: int, table: str) -> list[list[str]]:
    """The lines of a table of the kernel that are about a process's sockets."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            inodes.add(os.readlink(link).removeprefix("socket:[").removesuffix("]"))
    lines = [line.split() for line in Path(f"/proc/net/{table}").read_text().splitlines()]
    return [line for line in lines if not inodes.isdisjoint(line)]


def test_what_was_put_into_a_bucket_is_there(server: SeaweedServer) -> None:
    async def story() -> bytes:
        await open_object_store(server.url("first")).put("a/b", b"bytes")
        return await open_object_store(server.url("first")).get("a/b")

    assert asyncio.run(story()) == b"bytes"


def test_buckets_are_apart(server: SeaweedServer) -> None:
    async def story() -> int:
        await open_object_store(server.url("second")).put("a", b"bytes")
        return len(await open_object_store(server.url("third")).list())

    assert asyncio.run(story()) == 0


def test_unlike_s3_it_takes_a_folder_for_an_object_that_is_there(server: SeaweedServer) -> None:
    async def story() -> None:
        store = open_object_store(server.url("fourth"))
        await store.put("a/b", b"bytes")
        with pytest.raises(AlreadyExists):
            await store.put("a", b"bytes", if_absent=True)
        with pytest.raises(ObjectNotFound):
            await store.get("a")

    asyncio.run(story())


def test_a_request_without_its_keys_is_refused(server: SeaweedServer) -> None:
    endpoint = parse_qs(urlsplit(server.url("first")).query)["endpoint"][0]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{endpoint}/first?list-type=2")
    refused.value.close()
    assert refused.value.code == 403


def test_it_listens_on_loopback_only(server: SeaweedServer) -> None:
    listening = [line[1] for line in sockets_of(server.pid, "tcp") if line[3] == "0A"]
    assert listening
    assert [address for address in listening if not address.startswith("0100007F:")] == []
    assert sockets_of(server.pid, "tcp6") == []


def test_nothing_is_left_after_it_was_closed() -> None:
    with SeaweedServer() as server:
        sockets = [Path(line[7]) for line in sockets_of(server.pid, "unix") if len(line) == 8]
        left = [folder_of(server), *sockets]
        handle = os.pidfd_open(server.pid)
        assert sockets
    assert ended(handle)
    assert [path for path in left if path.exists()] == []


def test_closing_twice_is_harmless() -> None:
    server = SeaweedServer().start()
    server.close()
    server.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "SIGKILL"])
def test_it_ends_with_its_owner(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as owner:
        assert owner.stdout is not None
        *pids, folder = owner.stdout.readline().decode().split()
        handles = [os.pidfd_open(int(pid)) for pid in pids]
        owner.send_signal(number)
        try:
            owner.wait(20)
        finally:
            owner.kill()
    assert [ended(handle) for handle in handles] == [True, True]
    assert not Path(folder).exists()


def test_a_server_that_cannot_start_shows_its_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "weed"
    broken.write_text("#!/bin/sh\necho no such luck\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(s3_server, "server_binary", lambda: str(broken))
    with pytest.raises(LabBroken, match="no such luck"):
        SeaweedServer().start()


def ended(handle: int) -> bool:
    """Whether the process is gone within a while."""
    try:
        return bool(select.select([handle], [], [], 20)[0])
    finally:
        os.close(handle)
