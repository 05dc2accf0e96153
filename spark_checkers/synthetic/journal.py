"""What the clients of a simulated cluster write down.

A client has as many logical processes as it has requests in flight. A process whose operation ended
without an outcome retires.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spark_checkers.synthetic.loop import MS, Loop

Event = dict[str, Any]
REPEATED = ("topic", "partition", "node")
"""What a completion says again."""
CLOCK_GAP_NS = 3_600_000 * MS
"""How far the second time domain is off: times of two domains mean nothing to each other."""


@dataclass(frozen=True, slots=True)
class Line:
    """One event and the writer whose shard it is in."""

    writer: str
    event: Event


@dataclass(frozen=True, slots=True)
class Opened:
    """An operation under way."""

    writer: str
    process: int
    asked: Mapping[str, Any]


class Journal:
    """All lines of a run, in the order in which they were written."""

    def __init__(self, loop: Loop, clocks: int) -> None:
        self.lines: list[Line] = []
        self._loop = loop
        self._clocks = clocks
        self._known: list[str] = []
        self._processes = 0
        self._idle: dict[str, list[int]] = defaultdict(list)

    def invoke(self, writer: str, f: str, **fields: Any) -> Opened:
        """A client asks for something."""
        idle = self._idle[writer]
        if idle:
            process = idle.pop()
        else:
            process, self._processes = self._processes, self._processes + 1
        shared = {name: value for name, value in fields.items() if name in REPEATED}
        rest = {name: value for name, value in fields.items() if name not in REPEATED}
        asked = {"process": process, "f": f, **shared}
        self._write(writer, {"kind": "op", **asked, "type": "invoke", **rest})
        return Opened(writer, process, asked)

    def complete(self, opened: Opened, type_: str, **fields: Any) -> None:
        """The client learns what came of it."""
        if type_ != "info":
            self._idle[opened.writer].append(opened.process)
        self._write(opened.writer, {"kind": "op", **opened.asked, "type": type_, **fields})

    def fault(self, name: str, target: str, phase: str, **fields: Any) -> None:
        """The nemesis did something."""
        self._write(
            "nemesis", {"kind": "fault", "name": name, "target": target, "phase": phase, **fields}
        )

    def _write(self, writer: str, event: Event) -> None:
        if writer not in self._known:
            self._known.append(writer)
        domain = 0 if writer == "nemesis" else self._known.index(writer) % self._clocks
        stamp = {
            "time": self._loop.moment() + domain * CLOCK_GAP_NS,
            "clock": f"host-{domain + 1}" if domain else "host",
        }
        self.lines.append(Line(writer, {**event, **stamp}))
