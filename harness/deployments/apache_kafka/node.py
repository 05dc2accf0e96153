"""One node: a Java process, its folder, and what can be done to it.

It leads its own process group and is known to the reaper while it lives, so it never outlives the
lab. What it prints goes to `console.log`, what it logs to `server.log`, both in its folder.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.errors import LabBroken
from harness.processes.reaper import REAPER

STOP_S = 30.0
END_S = 10.0
LAST_WORDS = 1500


class Node:
    """A node that is formatted once and may run many times."""

    def __init__(self, *, node_id: int, port: int, folder: Path, java: Sequence[str]) -> None:
        self.node_id = node_id
        self.port = port
        self.folder = folder
        self._java = java
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The number of its process, None while there is none."""
        return None if self._process is None else self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """How it ended by itself; None while it runs, and once it was killed."""
        return None if self._process is None else self._process.poll()

    def begin_format(self, cluster_id: str) -> subprocess.Popen[bytes]:
        """Start to format its folder; several nodes may do so at once."""
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", self._settings]
        return self._launch(tool, "format.log")

    def start(self) -> None:
        """Start the process; whether it is ready is asked later."""
        if self.running:
            raise LabBroken(f"node {self.node_id} runs already")
        self._process = self._launch(["kafka.Kafka", self._settings], "console.log")

    def stop(self) -> None:
        """Ask it to shut down as an operator would; kill it if it does not."""
        if self._process is None:
            return
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_S)
        self.kill()

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(END_S)
        REAPER.ended(process.pid)

    def pause(self) -> None:
        """SIGSTOP, and wait until the kernel says that it stands still."""
        self.signal(signal.SIGSTOP)
        if self._process is not None:
            os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        self.signal(signal.SIGCONT)

    def signal(self, number: signal.Signals) -> None:
        """Signal its group, if it still runs."""
        if self._process is not None and self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def last_words(self) -> str:
        """The end of what it printed and logged, for a message."""
        texts = []
        for name in ("format.log", "console.log", "server.log"):
            path = self.folder / name
            if path.exists():
                texts.append(f"{path}: …{path.read_text(errors='replace')[-LAST_WORDS:]}")
        return "\n".join(texts)

    def log_tail(self, most_bytes: int) -> bytes:
        """The end of what it logged."""
        try:
            with (self.folder / "server.log").open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - most_bytes))
                return log.read(most_bytes)
        except FileNotFoundError:
            return b""

    @property
    def _settings(self) -> str:
        return str(self.folder / "node.properties")

    def _launch(self, command: Sequence[str], log: str) -> subprocess.Popen[bytes]:
        with (self.folder / log).open("ab") as words:
            process = subprocess.Popen(
                [*self._java, f"-Dtidemark.log={self.folder / 'server.log'}", *command],
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                start_new_session=True,
            )
        REAPER.started(process.pid)
        return process
