"""Nodes for tests: each is `sleep` in a process group of its own, with a folder for a disk."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

from harness.deployments.plan import NodeState
from harness.errors import LabBroken


class SleepingNodes:
    """Processes that do nothing; ``addresses`` say where a test answers in their place."""

    def __init__(self, folder: Path, *names: str) -> None:
        self.folder = folder
        self.addresses: dict[str, str] = {}
        self.never_ready: set[str] = set()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        for name in names:
            self.start(name)

    def close(self) -> None:
        for name in self._processes:
            self.kill(name)

    def address(self, name: str) -> str:
        return self.addresses[name]

    def state(self, name: str) -> NodeState | None:
        code = self._processes[name].poll()
        return NodeState(running=code is None, exit_code=code)

    def pid(self, name: str) -> int | None:
        return self._processes[name].pid

    def data_folder(self, name: str) -> Path | None:
        return self.folder / name

    def start(self, name: str) -> None:
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._processes[name] = subprocess.Popen(["sleep", "600"], start_new_session=True)

    def wait(self, name: str) -> None:
        if name in self.never_ready:
            raise LabBroken(f"{name} was not ready")

    def kill(self, name: str) -> None:
        self._signal(name, signal.SIGKILL)
        self._processes[name].wait()

    def wipe(self, name: str) -> None:
        shutil.rmtree(self.folder / name)

    def pause(self, name: str) -> None:
        self._signal(name, signal.SIGSTOP)
        os.waitid(os.P_PID, self._processes[name].pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self, name: str) -> None:
        self._signal(name, signal.SIGCONT)

    def _signal(self, name: str, number: signal.Signals) -> None:
        if self._processes[name].poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._processes[name].pid, number)
