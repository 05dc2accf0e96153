"""Kafka's own command-line tools, run against any cluster.

A tool is named by its class. It is a JVM of its own, a second or two each. What it prints is given
back; what it logs is in `tools.log` in the folder.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.deployments.apache_kafka.jvm import java_command
from harness.processes.reaper import REAPER

PATIENCE_S = 90.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a tool said, and how it ended."""

    command: str
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What it printed, line by line, without empty ones."""
        return [line.strip() for line in self.out.splitlines() if line.strip()]

    def __str__(self) -> str:
        return f"{self.command}\nexit {self.code}\n{self.out}\n{self.err}"


class ToolFailed(AssertionError):
    """A tool that should have worked did not."""


class JavaTools:
    """The tools, told where the cluster is."""

    def __init__(self, *, folder: Path, bootstrap: str) -> None:
        """Raises KafkaUnavailable where there is no Java or there are no jars."""
        self.folder = folder.resolve()
        self.bootstrap = bootstrap
        self._java = java_command(self.folder)

    def run(self, tool: str, *arguments: str, typed: str = "") -> str:
        """What a tool printed, having ended well."""
        told = self.attempt(tool, *arguments, typed=typed)
        if told.code:
            raise ToolFailed(str(told))
        return told.out

    def attempt(self, tool: str, *arguments: str, typed: str = "") -> Told:
        """Run a tool to its end, however it ends."""
        command = [tool, "--bootstrap-server", self.bootstrap, *arguments]
        return self.bare(*command, typed=typed)

    def bare(self, tool: str, *arguments: str, typed: str = "") -> Told:
        """Run a tool that is not told where the cluster is but by its arguments."""
        with self._started(tool, *arguments) as process:
            out, err = process.communicate(typed, timeout=PATIENCE_S)
        told = " ".join([tool.rsplit(".", 1)[-1], *arguments])
        return Told(command=told, code=process.returncode, out=out, err=err)

    def first_line(self, wanted: str, tool: str, *arguments: str) -> str:
        """Run a tool that never ends by itself until it prints a line with this in it."""
        seen = []
        with self._started(tool, *arguments) as process:
            too_long = threading.Timer(PATIENCE_S, process.kill)
            too_long.start()
            for line in process.stdout or ():
                seen.append(line)
                if wanted in line:
                    break
            too_long.cancel()
        if not seen or wanted not in seen[-1]:
            raise ToolFailed(f"{tool} never said {wanted!r} but\n{''.join(seen)}")
        return seen[-1].strip()

    @contextlib.contextmanager
    def _started(self, tool: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            [*self._java, f"-Dtidemark.log={self.folder / 'tools.log'}", tool, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            start_new_session=True,
            text=True,
        )
        REAPER.started(process.pid)
        try:
            with process:
                try:
                    yield process
                finally:
                    process.kill()
        finally:
            REAPER.ended(process.pid)
