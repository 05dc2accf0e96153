"""Running installers: progress for the user, a log for the curious, a lock against company.

Every tool inherits the locks its launcher holds. A file lock lasts as long as any process has it
open, so a tool that outlives a killed launcher keeps the next start waiting instead of meeting it
in the folder.
"""

import fcntl
import os
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

AIMED_ELSEWHERE = (
    "CONDA_PREFIX",
    "PIP_PREFIX",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONHOME",
    "PYTHONPATH",
    "UV_PYTHON",
    "UV_SYSTEM_PYTHON",
    "VIRTUAL_ENV",
)
"""Settings that would send an installer to another interpreter or folder than it is told."""

NO_ROOM = r"No space left|os error 28\b|Errno 28\b|quota exceeded"
OTHER_HASH = r"hash(es)? mismatch|DO NOT MATCH THE HASHES"
NO_NETWORK = (
    r"dns error|name resolution|error sending request|tcp connect"
    r"|Connection (refused|reset|aborted)|NewConnectionError|unreachable|timed out"
    r"|No matching distribution|Failed to fetch|ProxyError|certificate verify failed"
    r"|network was disabled"
)

KEPT = "what was fetched is kept"

_held: list[int] = []


class Trouble(Exception):
    """Setting up cannot go on: the sentence the user reads, and how the launcher exits."""

    def __init__(self, sentence: str, code: int = 3) -> None:
        super().__init__(sentence)
        self.code = code


def say(text: str) -> None:
    """One line to the user, apart from anything a command prints for programs."""
    print(f"tidemark: {text}", file=sys.stderr, flush=True)


@contextmanager
def locked(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file, telling the user while somebody else has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another start is making {what}; waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _held.append(descriptor)
        yield
    finally:
        if descriptor in _held:
            _held.remove(descriptor)
        os.close(descriptor)


def explain(words: str, doing: str, log: Path) -> str:
    """What a failed tool's words mean for the user: what stopped, why, what next."""
    if re.search(NO_ROOM, words, re.IGNORECASE):
        return f"{doing} stopped: the disk is full. Make room and start again; {KEPT}."
    if re.search(OTHER_HASH, words, re.IGNORECASE):
        return (
            f"{doing} stopped: a package is not the one that requirements.lock names."
            f" Look at the package index you use, and at the tool's words in {log}."
            " If it is pyspark, remove the folder of the wheel named there and start again."
        )
    if re.search(NO_NETWORK, words, re.IGNORECASE):
        return (
            f"{doing} stopped: not all that requirements.lock names is on this machine, and the"
            f" package index cannot be reached. Start again with a network; {KEPT}. To use a mirror"
            f" or a folder of wheels, set uv and pip up for it. The tool's words are in {log}."
        )
    last = " / ".join(words.strip().splitlines()[-3:])
    return f"{doing} failed: {last or 'without a word'}. The tool's words are in {log}."


def check_room(folder: Path, gigabytes: float) -> None:
    """Stop early, with a sentence, where the disk could not hold what is about to be made."""
    free = shutil.disk_usage(folder).free / 1e9
    if free < gigabytes:
        needed = f"{gigabytes} GB of free disk are needed at {folder}, and {free:.1f} are there"
        raise Trouble(f"{needed}. Make room and start again.")


class Attempt(Protocol):
    """Runs a command under a title; returns nothing when it did its work, else its last words."""

    def __call__(self, title: str, command: Sequence[str], **environ: str) -> str: ...


class Tools:
    """Runs the tools of one set-up, one after another, all their words in one log."""

    def __init__(self, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")
        self.log = log

    def attempt(self, title: str, command: Sequence[str], **environ: str) -> str:
        """Run a tool that may fail: empty when it did its work, else its last words."""
        with self.log.open("ab") as log:
            log.write(f"$ {shlex.join(command)}\n".encode())
            progress = Progress(title)
            try:
                child = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    env=tool_environ(os.environ) | environ,
                    pass_fds=_held,
                )
            except OSError as error:
                return str(error)
            try:
                last = _follow(child, progress, log)
                return "" if child.wait() == 0 else last or f"exit code {child.returncode}"
            finally:
                _end(child)
                progress.close()

    def run(self, title: str, command: Sequence[str], **environ: str) -> None:
        """Run a tool that has to do its work."""
        if words := self.attempt(title, command, **environ):
            raise Trouble(explain(words, title, self.log))


def tool_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment variables installers get."""
    return {name: value for name, value in environ.items() if name not in AIMED_ELSEWHERE}


class Progress:
    """One line a step. A terminal sees it tick; a log gets a word every ten seconds."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.word = ""
        self.began = self.shown = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self._write(title)

    def tick(self, word: str = "") -> None:
        """Time has passed, or the tool said something."""
        self.word = word.strip()[:50] or self.word
        now = time.monotonic()
        if now - self.shown >= (0.5 if self.terminal else 10):
            self.shown = now
            self._write(f"{self.title} … {now - self.began:.0f} s  {self.word}")

    def close(self) -> None:
        """The tool has ended."""
        if self.terminal:
            self._write(f"{self.title}: {time.monotonic() - self.began:.0f} s\n")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r\033[Ktidemark: {text}" if self.terminal else f"tidemark: {text}\n")
        sys.stderr.flush()


def _follow(child: subprocess.Popen[bytes], progress: Progress, log: IO[bytes]) -> str:
    assert child.stdout is not None
    last = b""
    while True:
        if not select.select([child.stdout], [], [], 0.5)[0]:
            progress.tick()
            continue
        chunk = os.read(child.stdout.fileno(), 65536)
        if not chunk:
            return last.decode("utf-8", "replace")
        log.write(chunk)
        log.flush()
        last = (last + chunk)[-8000:]
        progress.tick(re.split(rb"[\r\n]+", last.strip())[-1].decode("utf-8", "replace"))


def _end(child: subprocess.Popen[bytes]) -> None:
    """Leaves no tool behind when the launcher is stopped."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    if child.stdout is not None:
        child.stdout.close()
