"""Stages of a long command: a live line while it runs, one plain line when it is done.

The live line is for people alone: on a terminal, beside what is printed, and never with `--json`.
Where it is known how much there is to do, it has a bar.
"""

from __future__ import annotations

import json
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import Any, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TextColumn
from rich.text import Text

from reports.plain import clean, printable, scrubbed
from reports.terminal import width
from spark_checkers.pace import HowFar

__all__ = ["LABEL", "Line", "Stage", "plural", "print_document", "printable"]

LABEL = 11


def plural(count: int, word: str) -> str:
    """`1 rule`, `2 rules`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def print_document(document: Any, *, indent: int | None = None) -> None:
    """A document for programs, alone on standard output; secrets are hidden."""
    told = json.dumps(clean(document), ensure_ascii=False, indent=indent)
    print("\n".join(map(printable, told.split("\n"))))


class _Bar(BarColumn):
    """A bar, once it is known how much there is to do."""

    def render(self, task: Task) -> Any:
        """Nothing before."""
        return Text() if task.total is None else super().render(task)


class Line:
    """The line of one stage. Several threads may tell it what they do."""

    def __init__(self, bars: Progress, name: str) -> None:
        self._bars = bars
        self._turn = Lock()
        self._task = bars.add_task(name, total=None)
        self.text = ""

    def progress(self, text: str) -> None:
        """What is going on now; shown only where somebody is watching."""
        said = escape(printable(text))
        with self._turn:
            if isinstance(text, HowFar):
                done, whole = text.done, text.whole
                self._bars.update(self._task, description=said, completed=done, total=whole)
            else:
                self._bars.remove_task(self._task)
                self._task = self._bars.add_task(said, total=None)

    def done(self, text: str) -> None:
        """What the stage came to."""
        self.text = text


class Stage:
    """Prints stages and plain lines to one stream, never wider than asked, never in colour; to
    none if there is none."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._console = Console(stderr=True, quiet=stream is None)

    @classmethod
    def for_people(cls, *, as_json: bool) -> Stage:
        """To standard output; silent where a program reads that."""
        return cls(None if as_json else sys.stdout)

    @contextmanager
    def _live(self, name: str) -> Iterator[Line]:
        columns = (SpinnerColumn(), _Bar(bar_width=24), TextColumn("{task.description}"))
        bars = Progress(*columns, console=self._console, transient=True)
        # On no terminal there is nothing to draw, and rich would end with an empty line.
        with bars if self._console.is_interactive else nullcontext():
            yield Line(bars, name)

    @contextmanager
    def __call__(self, name: str) -> Iterator[Line]:
        """A stage; its line is printed when the block ends well."""
        started = time.monotonic()
        with self._live(name) as line:
            yield line
        took = f"{name:<{LABEL}}ok      {line.text} in {time.monotonic() - started:.1f} s"
        for row in textwrap.wrap(took, width(), subsequent_indent=" " * (LABEL + 8)):
            self.say(row)

    @contextmanager
    def watched(self, name: str) -> Iterator[Callable[[str], None]]:
        """Something long whose result speaks for itself: shown while it runs, and no line after."""
        with self._live(name) as line:
            yield line.progress

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
        if self._stream is not None:
            print(printable(scrubbed(text)), file=self._stream, flush=True)
