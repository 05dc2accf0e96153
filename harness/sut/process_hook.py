"""The hook `process`: a program of a SUT file that starts, hurts and mends its brokers.

It is run once for each order, as `COMMAND VERB NODE`, and has obeyed when it ends with exit code 0.
NODE is the id of a broker. Whether it told the truth is found out by looking. Orders about links
name two nodes; a program that can carry them out says so when it is asked for its `verbs`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from harness.errors import AdapterError, CannotConnect, shown
from harness.processes.reaper import REAPER

VERBS = ("start", "kill", "pause", "resume", "wipe")
ASKED_FOR = "verbs"
OF_LINKS = ("cut", "heal", "held")
SLOW = "slow"
CONTROLLER = "controller"
"""Said among the verbs: links to a controller that is no broker can be cut, too."""
ORDER_S = 60.0
_TAIL_BYTES = 2048


class ProcessHook:
    """Orders to the nodes of a SUT file."""

    def __init__(
        self, command: Sequence[str], folder: Path | None, *, within_s: float = ORDER_S
    ) -> None:
        self._command = tuple(command)
        self._folder = folder
        self._within_s = within_s
        self._lock = threading.Lock()

    def verbs(self) -> frozenset[str]:
        """What the program says that it can do; one that says nothing knows no links."""
        return frozenset((*VERBS, *self.order(ASKED_FOR).split()))

    def order(self, verb: str, *about: str) -> str:
        """Have it done, or say why it was not; what it printed."""
        command = [*self._command, verb, *about]
        called = f"the hook process ({' '.join(command)})"
        # A file, not a pipe: what it starts may keep its output open for as long as it runs.
        with self._lock, tempfile.TemporaryFile() as words:
            code = self._run(command, called, words)
            if code:
                words.seek(max(0, words.tell() - _TAIL_BYTES))
                said = shown(words.read().strip(), limit=600)
                told = f"\n  it said: {said}" if said else ""
                raise AdapterError(f"{called} ended with exit code {code}{told}")
            words.seek(0)
            return words.read(_TAIL_BYTES).decode("utf-8", "replace")

    def _run(self, command: Sequence[str], called: str, words: IO[bytes]) -> int:
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise CannotConnect(f"{called} cannot be started: {error}") from None
        REAPER.started(process.pid)
        try:
            return process.wait(self._within_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise AdapterError(f"{called} did not end within {self._within_s:g} s") from None
        finally:
            REAPER.ended(process.pid)
