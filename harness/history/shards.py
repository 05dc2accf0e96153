"""One append-only file per writer.

A shard is what one writer saw, in the order in which it saw it:

    {"kind":"shard","format":1,"writer":"client-1","clock":"host"}     first line
    {"kind":"op","time":...,"clock":"host",...}                         one event a line
    {"kind":"end","lines":1}                                            last line, on close()

Every line goes to the operating system in one `write` on a descriptor opened for appending, before
`write()` returns. So a writer that is killed, at whatever instant, loses at most the line it was
writing; and the missing end line tells sealing that it was killed. (Losing power is another
matter: nothing is synced to the device, because the lab, not the machine, is what gets killed.)

When the disk is full the line is taken back, the error says so, and the shard stays as it was:
whole lines only. No clock is read here: the time of an event comes with the event.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from .errors import EventRefused, RunFolderError, ShardClosed, ShardWriteFailed
from .lines import BadLine, encode
from .schema import EVENT_KINDS, FORMAT, line_fault

_EVENT_KINDS: Final = frozenset(EVENT_KINDS)


class ShardWriter:
    """Appends events to one new shard file; safe to share between threads."""

    def __init__(
        self, path: Path | str, *, clock: str, writer: str | None = None, mortal: bool = False
    ) -> None:
        """Create the file and write its first line.

        `clock` is the time domain of this writer; an event may name another one. `mortal` marks a
        writer that belongs to the system under test and may be killed on purpose.
        """
        self.path = Path(path)
        self.clock = clock
        self._lines = 0
        self._size = 0
        self._lock = threading.Lock()
        self._refusal: str | None = None
        self._open = True
        name = writer or self.path.stem
        first = {"kind": "shard", "format": FORMAT, "writer": name, "clock": clock}
        line = self._encode(first | ({"mortal": True} if mortal else {}))
        try:
            self._fd = os.open(
                self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644
            )
        except FileExistsError:
            raise RunFolderError(
                f"{self.path} exists: a shard has one writer and is never reopened; "
                "give this writer a name of its own"
            ) from None
        except OSError as cause:
            raise RunFolderError(f"cannot create {self.path}: {cause.strerror}") from cause
        self._append(line)

    def write(self, event: Mapping[str, Any]) -> None:
        """Record one event; when this returns, killing this process cannot lose it."""
        kind = event.get("kind")
        if type(kind) is not str or kind not in _EVENT_KINDS:
            raise EventRefused(
                f"{self.path.name}: a writer records {', '.join(EVENT_KINDS)}, "
                f"not kind {str(kind)[:40]!r}; the event was not recorded"
            )
        line = self._encode({"kind": None, "time": None, "clock": self.clock, **event})
        with self._lock:
            if self._refusal is not None:
                raise ShardClosed(f"{self.path.name} takes no more events: {self._refusal}")
            self._append(line)
            self._lines += 1

    @property
    def lines(self) -> int:
        """How many events it has recorded."""
        return self._lines

    def close(self, *, at: str | None = None) -> None:
        """Write the end line, which says that this writer finished. Closing twice is harmless.

        `at` is the time of day, for a writer whose end is the end of the run.
        """
        with self._lock:
            if not self._open:
                return
            try:
                if self._refusal is None:
                    ended = {"at": at} if at is not None else {}
                    self._append(self._encode({"kind": "end", "lines": self._lines, **ended}))
            finally:
                self._release()

    def abandon(self) -> None:
        """Stop without an end line: the writer did not finish, and sealing will say so."""
        with self._lock:
            if self._open:
                self._release()

    def _release(self) -> None:
        self._open = False
        self._refusal = self._refusal or "it was closed"
        os.close(self._fd)

    def _encode(self, event: dict[str, Any]) -> bytes:
        fault = line_fault(event)
        if fault is None and "index" in event:
            fault = "index is given by sealing, not by the writer"
        if fault is not None:
            raise EventRefused(f"{self.path.name}: {fault}; the event was not recorded")
        try:
            return encode(event)
        except BadLine as cause:
            raise EventRefused(
                f"{self.path.name}: {cause}; the event ({event['kind']}, "
                f"fields {', '.join(map(str, event))}) was not recorded"
            ) from None

    def _append(self, line: bytes) -> None:
        """One write of the whole line; a short one is finished or taken back."""
        done = 0
        try:
            while done < len(line):
                done += os.write(self._fd, line[done:] if done else line)
        except OSError as cause:
            self._take_back(done)
            raise ShardWriteFailed(
                f"cannot write to {self.path}: {cause.strerror}. Nothing already recorded is lost "
                f"({self._lines} events are in the shard); this event is not recorded. "
                "Free space and go on, or stop: the run will be incomplete"
            ) from cause
        self._size += done

    def _take_back(self, done: int) -> None:
        if done:
            try:
                os.ftruncate(self._fd, self._size)
            except OSError:
                self._refusal = "half a line was written and could not be taken back"

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """A block that failed did not finish its story: no end line."""
        if kind is None:
            self.close()
        else:
            self.abandon()
