"""One shard as sealing sees it: its usable lines in order, and what is wrong with it.

What a killed writer can leave behind is a last line without its newline, and no end line. Both are
told here, once, as problems; in a *mortal* shard (a writer of the system under test, killed on
purpose and perhaps started again) they are notes instead, and a second shard line opens the next
life of the same writer. Empty lines are passed over: a writer that starts again puts a newline
first, in case its former life ended in the middle of a line.

Sealing looks at what it needs: that a line is JSON, of a kind that may be here, with a place in
time. Writers of the lab hold every event to the schema before it is written, and readers hold
every line to it again; a third look would halve the speed of sealing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, TypeAlias

from .errors import HistoryUnreadable
from .files import open_regular
from .lines import BadLine, Event, LineFeed, decode
from .problems import Problem, ProblemLog
from .schema import EVENT_KINDS, line_fault, place_fault

Merged: TypeAlias = tuple[int, int, int, str, bytes]
"""Place in time, number of the shard, number of the line, kind, text: in the order of merging."""

_EVENT_KINDS: Final = frozenset(EVENT_KINDS)
_KIND_OF: Final = {kind.encode(): kind for kind in EVENT_KINDS}
_BEGINNING: Final = re.compile(
    rb'{"kind":"(%s)","time":(\d{1,18}),"clock":"([ !#-\[\]-~]*)"' % "|".join(EVENT_KINDS).encode()
)


def _opened(path: Path) -> BinaryIO:
    try:
        return open_regular(path, buffering=0)
    except OSError as cause:
        raise HistoryUnreadable(f"cannot read {path}: {cause.strerror}") from cause


class ShardReader:
    """Iterate once over the event lines of a shard; afterwards ask what was wrong with it."""

    def __init__(self, path: Path, at: int, *, sound: bool = False) -> None:
        """`at` is the shard's place among all shards by name; it breaks ties of time. Of lines that
        are known to be `sound` only the beginning is looked at, where it is as the lab writes it.
        """
        # A file system takes names that are no text; a footer does not.
        self.writer = path.stem.encode("utf-8", "backslashreplace").decode()
        self.clock: str | None = None
        self.ended_at: str | None = None
        self.events = 0
        self.problems = ProblemLog(file=f"{path.parent.name}/{self.writer}{path.suffix}")
        self.notes = ProblemLog(file=self.problems.file)
        self._at = at
        self._sound = sound
        self._file = _opened(path)
        self._number = 0
        self._mortal = False
        self._seen_first = False
        self._ended = False
        self._lines_of_life = 0
        self._torn: Problem | None = None
        self._damaged = False

    @property
    def damaged(self) -> bool:
        """Whether lines are missing elsewhere than at the end, where a killed writer leaves off."""
        return self._damaged

    def __iter__(self) -> Iterator[Merged]:
        """The lines to merge. A line is a line when its newline is there."""
        place = 0
        for raw, suspect, whole in LineFeed(self._file, judged=not self._sound):
            self._number += 1
            begins = _BEGINNING.match(raw) if self._sound and whole else None
            if begins is not None and self._seen_first and not self._ended:
                if self._torn is not None:
                    self._release_torn()
                kind, time, clock = _KIND_OF[begins[1]], int(begins[2]), begins[3].decode()
            else:
                event = self._usable(raw, suspect, whole)
                if event is None:
                    continue
                kind, time, clock = event["kind"], event["time"], event["clock"]
            self.events += 1
            self._lines_of_life += 1
            if self.clock is None:
                self.clock = clock
            if clock == self.clock:
                place = time
            yield place, self._at, self._number, kind, raw
        self.finish()

    def read(self, size: int) -> bytes:
        """The next bytes, for a caller that tells of each line (`take_events`, `take_frame`)."""
        return self._file.read(size)

    def take_events(self, count: int) -> bool:
        """Take note of so many sound events; False if there is more to say of them."""
        self._number += count
        self.events += count
        self._lines_of_life += count
        return self._seen_first and not self._ended

    def take_frame(self, raw: bytes) -> bool:
        """Take note of a line that frames events, or is empty; False if it is anything else."""
        self._number += 1
        event = self._usable(raw, True, True)
        return event is None and self._torn is None and not self._damaged

    def _usable(self, raw: bytes, suspect: bool, whole: bool) -> Event | None:
        """The event of a line, or None after noting what the line was instead."""
        if not whole:
            self._hold_torn("torn: the line has no end, its writer was killed; dropped")
            return None
        try:
            event = decode(raw, suspect=suspect)
        except BadLine as cause:
            if raw.strip():
                self._hold_torn(f"malformed, dropped: {cause}")
            return None
        kind = event.get("kind")
        if type(kind) is str and kind in _EVENT_KINDS:
            fault = place_fault(event) or self._sequence_fault()
            if fault is None:
                self._release_torn()
                return event
        else:
            fault = line_fault(event) or self._frame_line(event)
        self._release_torn()
        if fault is not None:
            self._damaged = True
            self.problems.add(self._number, f"malformed, dropped: {fault}")
        return None

    def _sequence_fault(self) -> str | None:
        if self._ended:
            return "an event after the end line"
        if not self._seen_first:
            self._seen_first = True
            self.problems.add(self._number, "the first line is not a shard line; lines kept")
        return None

    def _frame_line(self, event: Event) -> str | None:
        """Take note of a shard or end line; the fault if there must be none here."""
        if event["kind"] == "end":
            expected, self._ended = self._lines_of_life, True
            self.ended_at = event.get("at")
            if event["lines"] != expected:
                return f"the writer wrote {event['lines']} events, {expected} are here"
            return None
        if event["kind"] != "shard":
            return f"a line of kind {event['kind']} has no place in a shard"
        if self._seen_first and not self._mortal:
            return "a second shard line: two writers used one shard"
        if self._seen_first and not self._ended:
            self.notes.add(self._number, "the writer was killed and started again")
        self._drop_torn_as_note()
        self.clock = event["clock"]
        self._mortal = event.get("mortal") is True
        self._seen_first, self._ended, self._lines_of_life = True, False, 0
        return None

    def _hold_torn(self, reason: str) -> None:
        """Keep a bad line back until the next line shows whether a new life begins there."""
        self._release_torn()
        self._torn = Problem(file=self.problems.file, line=self._number, reason=reason)

    def _release_torn(self) -> None:
        """What was held back is lost, and lines follow it."""
        if self._torn is not None:
            self._damaged = True
            self._note_torn()

    def _note_torn(self) -> None:
        if self._torn is not None:
            self.problems.extend(self._torn)
            self._torn = None

    def _drop_torn_as_note(self) -> None:
        if self._torn is not None and self._mortal:
            self.notes.extend(self._torn)
            self._torn = None

    def finish(self) -> None:
        """Take note that no line is left."""
        self._drop_torn_as_note()
        self._note_torn()
        log = self.notes if self._mortal else self.problems
        if self._number == 0:
            log.add(0, "empty: its writer was killed before its first line")
        elif not self._ended:
            log.add(self._number, "no end line: its writer was killed or is still writing")

    def __enter__(self) -> ShardReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
