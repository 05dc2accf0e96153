"""Jepsen's `history.edn`: one vector or list of operation maps, or one map after another.

    [{:process 0, :type :invoke, :f :read, :value nil}      {:process 0, :type :invoke, ...}
     {:process 0, :type :ok,     :f :read, :value 4}]       {:process 0, :type :ok, ...}

Operations are read one at a time, so memory is bounded by the largest of them (`MAX_FORM_CHARS`).
A broken operation costs itself: it is named, and reading goes on at the next line that begins with
`{`. A file that is all broken is given up after `MAX_PROBLEMS`, or after `MAX_TOO_LONG` operations
that never seem to end, which are dear to read.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from ..errors import HistoryUnreadable
from ..files import open_regular
from ..history import History, Pass
from ..lines import MAX_LINE_BYTES, BadLine, Event, LineFeed
from .edn import Unfinished, read_form, skip
from .neutral import Neutral, header

MAX_FORM_CHARS: Final = 4 * 1024 * 1024
MAX_PROBLEMS: Final = 1000
MAX_TOO_LONG: Final = 2

_LEAST_READ: Final = 64 * 1024
_NEXT_MAP = re.compile(r"\n[\s,]*+(?=\{)")
_DISCARD: Final = "#_"
_CLOSING: Final = {"[": "]", "(": ")"}


def import_jepsen_edn(path: Path) -> History:
    """The history in an EDN file."""

    def source(passed: Pass) -> Iterator[Event]:
        try:
            with open_regular(path, buffering=0) as file:
                yield from _Reading(file, passed).events()
        except OSError as cause:
            raise HistoryUnreadable(f"cannot read {path}: {cause.strerror}") from cause

    return History(name=str(path), header=header(path.stem, "jepsen-edn"), source=source)


class _GaveUp(Exception):
    """Nothing more can be made of the file; the reason is already in the log."""


class _Reading:
    """One pass: a window of text over the file, and where in it we are."""

    def __init__(self, file: BinaryIO, passed: Pass) -> None:
        self._lines = iter(LineFeed(file))
        self._passed = passed
        self._text = ""
        self._at = 0
        self._line = 1
        self._lines_read = 0
        self._exhausted = False
        self._wrapper: str | None = None
        self._too_long_left = MAX_TOO_LONG

    def events(self) -> Iterator[Event]:
        neutral = Neutral()
        try:
            while self._to_next_form():
                event = self._one(neutral)
                if event is not None:
                    yield event
        except _GaveUp:
            return
        if self._wrapper is not None:
            self._problem(f"the {self._wrapper} that opens the history is never closed")
        self._passed.ended = True

    def _one(self, neutral: Neutral) -> Event | None:
        """The operation that begins here, or None after stepping over something else."""
        char = self._text[self._at]
        if self._wrapper is None and char in _CLOSING:
            self._wrapper = char
            self._move(self._at + 1)
            return None
        if self._wrapper is not None and char == _CLOSING[self._wrapper]:
            self._wrapper = None
            self._move(self._at + 1)
            return None
        discarded = self._text.startswith(_DISCARD, self._at)
        try:
            form, end = read_form(self._text, self._at + discarded * len(_DISCARD))
        except Unfinished as cause:
            if len(self._text) - self._at > MAX_FORM_CHARS:
                self._too_long()
            elif self._more():
                return None
            else:
                self._problem(str(cause))
            self._resynchronise()
            return None
        except BadLine as cause:
            self._problem(str(cause))
            self._resynchronise()
            return None
        event = None
        if discarded:
            self._move(end)
            return None
        try:
            if type(form) is not dict:
                raise BadLine(f"an operation is a map, this is {repr(form)[:40]}")
            event = neutral.event(form)
        except BadLine as cause:
            self._problem(str(cause))
        self._move(end)
        return event

    def _to_next_form(self) -> bool:
        """Step over spaces and comments; False at the end of the file."""
        while True:
            self._move(skip(self._text, self._at))
            if self._at < len(self._text):
                return True
            if not self._more():
                return False

    def _more(self) -> bool:
        """Read on: as much again as is at hand, so that re-reading a long form stays cheap."""
        held = len(self._text) - self._at
        wanted = min(max(held, _LEAST_READ), MAX_FORM_CHARS + 1)
        parts, added = [self._text[self._at :]], 0
        while not self._exhausted and added < wanted:
            raw, _, _ = next(self._lines, (None, False, False))
            if raw is None:
                self._exhausted = True
                break
            self._lines_read += 1
            if len(raw) > MAX_LINE_BYTES:
                self._passed.log.add(self._lines_read, f"longer than {MAX_LINE_BYTES} bytes")
                raw = b""
            if self._lines_read == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            parts.append(raw.decode("utf-8", "surrogateescape") + "\n")
            added += len(raw) + 1
        self._text, self._at = "".join(parts), 0
        return added > 0

    def _too_long(self) -> None:
        self._problem(f"an operation longer than {MAX_FORM_CHARS} characters, or never closed")
        self._too_long_left -= 1
        if not self._too_long_left:
            self._problem("gave up after several such operations")
            raise _GaveUp

    def _move(self, to: int) -> None:
        self._line += self._text.count("\n", self._at, to)
        self._at = to

    def _problem(self, reason: str) -> None:
        self._passed.log.add(self._line, reason)
        if self._passed.log.total >= MAX_PROBLEMS:
            self._passed.log.add(self._line, "gave up: is this a history in EDN?")
            raise _GaveUp

    def _resynchronise(self) -> None:
        """Go to the next line that begins with a map, or to the end."""
        while True:
            found = _NEXT_MAP.search(self._text, self._at)
            if found is not None:
                self._move(found.end())
                return
            # Keep the last newline: a map may begin right behind it in what is read next.
            self._move(max(self._at, len(self._text.rstrip())))
            if not self._more():
                self._move(len(self._text))
                return
