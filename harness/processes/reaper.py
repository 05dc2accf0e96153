"""Nothing outlives the lab, however the lab ends.

A world ends its own programs when it is closed. This is for the other endings: a killed lab, a
crash, a stopped program that cannot even read that its input is closed. One small watcher process
per lab is told which programs were started and which have ended; when its input closes, because
the lab is gone, it kills the groups of those that are left, and ends.

It only ever touches programs that it was told about while they were alive: each is held by a
pidfd, so a number that was given to another process since is never signalled.

Run as a program this file is the watcher; it imports nothing of ours, so it starts in an instant.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading

PATIENCE_S = 1.0


class Reaper:
    """The lab's side: tells the watcher what was started and what has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watcher: subprocess.Popen[bytes] | None = None

    def started(self, pid: int) -> None:
        """A program that leads its own process group is running."""
        self._tell(f"+{pid}\n")

    def ended(self, pid: int) -> None:
        """That program has been waited for; its number may now belong to anybody."""
        self._tell(f"-{pid}\n")

    def _tell(self, word: str) -> None:
        with self._lock:
            if self._watcher is None or self._watcher.poll() is not None:
                if self._watcher is None:
                    atexit.register(self.close)
                self._watcher = subprocess.Popen(
                    [sys.executable, "-I", "-S", __file__],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    bufsize=0,
                )
            assert self._watcher.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self._watcher.stdin.write(word.encode())

    def close(self) -> None:
        """The lab ends; so does the watcher, unless a child of the lab still talks to it."""
        with self._lock:
            if self._watcher is None or self._watcher.stdin is None:
                return
            self._watcher.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._watcher.wait(PATIENCE_S)


REAPER = Reaper()


def watch() -> None:
    """The watcher's side: keep a handle on each program, and kill what is left at the end."""
    handles: dict[int, int] = {}
    for line in sys.stdin:
        pid = int(line[1:])
        if line[0] == "+":
            with contextlib.suppress(OSError):
                handles[pid] = os.pidfd_open(pid)
        elif pid in handles:
            os.close(handles.pop(pid))
    for pid, handle in handles.items():
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(handle, 0)  # still the one we know: its group is ours
            os.killpg(pid, signal.SIGKILL)


if __name__ == "__main__":
    watch()
