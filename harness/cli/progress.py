"""Stages of a long command: a live line while it runs, one plain line when it is done."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from reports.plain import printable, scrubbed
from reports.terminal import width

__all__ = ["LABEL", "Line", "Stage", "plural", "printable"]

LABEL = 11


def plural(count: int, word: str) -> str:
    """`1 rule`, `2 rules`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


class Line:
    """The line of one stage."""

    def __init__(self, status: Status) -> None:
        self._status = status
        self.text = ""

    def progress(self, text: str) -> None:
        """What is going on now; shown only where somebody is watching."""
        self._status.update(escape(printable(text)))

    def done(self, text: str) -> None:
        """What the stage came to."""
        self.text = text


class Stage:
    """Prints stages and plain lines to one stream, never wider than asked, never in colour."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console = Console(stderr=True)

    @contextmanager
    def __call__(self, name: str) -> Iterator[Line]:
        """A stage; its line is printed when the block ends well."""
        started = time.monotonic()
        with self._console.status(name) as status:
            line = Line(status)
            yield line
        took = f"{name:<{LABEL}}ok      {line.text} in {time.monotonic() - started:.1f} s"
        for row in textwrap.wrap(took, width(), subsequent_indent=" " * (LABEL + 8)):
            self.say(row)

    @contextmanager
    def watched(self, name: str) -> Iterator[Callable[[str], None]]:
        """Something long whose result speaks for itself: shown while it runs, and no line after."""
        with self._console.status(name) as status:
            yield lambda text: status.update(escape(printable(f"{name}: {text}")))

    def detail(self, name: str, counts: Mapping[str, int]) -> None:
        """A stage's counts, several to a line."""
        row = f"{name:<{LABEL}}"
        for word, count in sorted(counts.items()):
            piece = f"{word} ×{count}"
            if len(row) + len(piece) > width() - 1 and row.strip():
                self.say(row.rstrip())
                row = " " * LABEL
            row += piece + "  "
        if counts:
            self.say(row.rstrip())

    def say(self, text: str) -> None:
        """One plain line, at once, whatever is in it; secrets are hidden."""
        print(printable(scrubbed(text)), file=self._stream, flush=True)
