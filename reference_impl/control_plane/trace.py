"""Effect lines: what a process really did, written by its ports and not by their callers.

One JSON line per effect, in the effect format of run histories, flushed as it is written: a
killed process loses at most the line it was writing, and the next one starts on a line of its own.
Lines carry no ``index``; that is given when the shards of a run are merged. Numbers of effects
start at 1 in every process.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path


class TraceFile:
    """A Trace that appends to a file; time is the host's monotonic clock in nanoseconds."""

    def __init__(self, path: Path, *, node: int, clock: str) -> None:
        self._file = path.open("ab+", buffering=0)
        self._node = node
        self._clock = clock
        if _ends_torn(path):
            self._file.write(b"\n")

    def effect(
        self, *, number: int, port: str, call: str, args: Mapping[str, object], outcome: str
    ) -> None:
        """Append one effect."""
        line = {
            "kind": "effect",
            "time": time.monotonic_ns(),
            "clock": self._clock,
            "node": self._node,
            "effect": number,
            "port": port,
            "call": call,
            "args": args,
            "outcome": outcome,
        }
        self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _ends_torn(path: Path) -> bool:
    with path.open("rb") as written:
        if written.seek(0, 2) == 0:
            return False
        written.seek(-1, 2)
        return written.read(1) != b"\n"
