"""Reading a sealed history, whatever happened to the file.

Each line is held to the schema; a line that fails is named and left out, the rest is kept. Beyond
single lines the reader checks what the format promises: the header comes first, `index` runs from
0 without gap or repeat, the footer comes last, its count is the number of events and its hash is
the hash of the bytes before it. A file without footer, or with any problem, is not complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .errors import FormatUnsupported, HistoryUnreadable
from .files import open_regular
from .history import History, Pass
from .lines import BadLine, Event, LineFeed, decode
from .run import HISTORY_FILE
from .schema import EVENT_KINDS, FORMAT, line_fault
from .seal import SHA_FIELD

_EVENT_KINDS = frozenset(EVENT_KINDS)


def read_history(path: Path | str) -> History:
    """The sealed history in a file, or in the run folder that contains it."""
    path = Path(path)
    if path.is_dir():
        if not (path / HISTORY_FILE).exists():
            raise HistoryUnreadable(f"{path} holds no {HISTORY_FILE}; seal the run first")
        path = path / HISTORY_FILE
    header = _read_header(path)

    def source(passed: Pass) -> Iterator[Event]:
        return Reading(path, passed).events()

    return History(name=str(path), header=header, source=source, first_line=2, path=path)


def _read_header(path: Path) -> Event:
    """The header if the first line is one; the pass over the file reports it if it is not."""
    try:
        with open_regular(path) as file:
            raw, suspect, _ = next(iter(LineFeed(file)), (b"", False, False))
    except OSError as cause:
        raise HistoryUnreadable(f"cannot read {path}: {cause.strerror}") from cause
    try:
        header = decode(raw, suspect=suspect)
    except BadLine:
        return {}
    number = header.get("format")
    if header.get("kind") == "header" and type(number) is int and number != FORMAT:
        raise FormatUnsupported(
            f"{path} is a history of format {number}; this version reads format {FORMAT}. "
            "Use the version of Tidemark that wrote it"
        )
    return {} if header.get("kind") != "header" or line_fault(header) else header


class Reading:
    """One pass over one file."""

    def __init__(self, path: Path, passed: Pass) -> None:
        """What is found out beside the events goes into `passed`."""
        self._path = path
        self._passed = passed
        self.number = 0
        self.next_index = 0
        self._count = 0
        self._header_seen = False
        self._footer: Event | None = None

    def events(self) -> Iterator[Event]:
        """The usable events of the file, line by line."""
        try:
            with open_regular(self._path, buffering=0) as file:
                feed = LineFeed(file, hashed=True)
                for raw, suspect, whole in feed:
                    event = self.line(raw, suspect=suspect, whole=whole)
                    if event is not None:
                        yield event
                self.finish(feed, torn=self.number > 0 and not whole)
        except OSError as cause:
            raise HistoryUnreadable(f"cannot read {self._path}: {cause.strerror}") from cause

    def pass_over(self, events: int) -> None:
        """Take note of events that were read elsewhere and have the index that was due."""
        self.number += events
        self.next_index += events
        self._count += events

    def line(self, raw: bytes, *, suspect: bool | None, whole: bool) -> Event | None:
        """The event of the next line, or None after noting what the line was instead."""
        self.number += 1
        try:
            event = decode(raw, suspect=suspect)
            fault = line_fault(event)
        except BadLine as cause:
            fault = str(cause) if whole else f"torn: {cause}"
        if fault is None:
            if event["kind"] in _EVENT_KINDS:
                fault = self._order_fault(event)
                if fault is None:
                    self._count += 1
                    return event
            else:
                fault = self._frame_fault(event)
        if fault is not None:
            self._passed.log.add(self.number, fault)
        return None

    def _order_fault(self, event: Event) -> str | None:
        index = event.get("index")
        if index is None:
            return "an event of a sealed history needs index"
        if self._footer is not None:
            return "an event after the footer"
        expected = self.next_index
        if index < expected:
            return f"index {index} is repeated or out of order; {expected} was due"
        self.next_index = index + 1
        if index > expected:
            self._passed.log.add(self.number, f"events {expected} to {index - 1} are missing")
        return None

    def _frame_fault(self, event: Event) -> str | None:
        if event["kind"] == "header":
            self._header_seen = True
            return None if self.number == 1 else "a header that is not the first line"
        if event["kind"] != "footer":
            return f"a line of kind {event['kind']} belongs in a shard"
        if self._footer is not None:
            return "a second footer"
        self._footer = event
        return None

    def finish(self, feed: LineFeed, *, torn: bool) -> None:
        """Take note of how the file ended."""
        log, footer = self._passed.log, self._footer
        if self.number == 0:
            log.add(0, "the file is empty")
        elif not self._header_seen:
            log.add(1, "there is no header")
        if footer is None:
            self._passed.notes.append("no footer: the run was not sealed, or the file was cut")
            return
        if torn:
            log.add(self.number, "the footer has no newline: the file was cut")
        if footer["events"] != self._count:
            counts = f"the footer counts {footer['events']} events, {self._count} are here"
            log.add(self.number, counts)
        if feed.sha256_before(SHA_FIELD) != footer["sha256"]:
            log.add(self.number, "the hash does not fit: the file was changed after sealing")
        if footer.get("damaged"):
            log.add(self.number, "sealed from shards of which lines could not be used")
        if not footer.get("complete", True):
            self._passed.notes.extend(map(str, footer.get("reasons", [])))
            self._passed.notes.append("sealed as incomplete")
        self._passed.footer = footer
        self._passed.ended = footer.get("complete", True)
