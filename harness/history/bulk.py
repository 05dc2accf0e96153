"""Silver tables of a sealed history without a Python object for each line.

The history is cut into ranges, which are laid out side by side (`ranges`), in threads of this
process or wherever `Runs` puts them. Here they are joined: a range must begin with the index that
is due, a process must not invoke what it began in a range before, a send must be the only one of
its name. What fails this, and what is not plain, is laid out by `rows`, one line at a time. The
tables, and what is told about lines that cannot be used, are those that `rows` alone would make of
the history; only the order of the rows in a table is another.
"""

from __future__ import annotations

import os
import shutil
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final, Protocol, TypeVar

import pyarrow.parquet as pq

from .errors import HistoryUnreadable
from .files import open_regular
from .history import History, Pass
from .lines import MAX_LINE_BYTES, Event, LineFeed, decode
from .other_lines import OtherLines
from .problems import Problem, ProblemLog
from .range_lines import fingerprint
from .ranges import (
    BULK_TABLES,
    RANGE_BYTES,
    JoinedRange,
    LayOut,
    Range,
    RestWriter,
    TooMuch,
    cut,
    discard,
    framed,
    lay_out_range,
    others_file,
    retried_sends,
    sends_file,
)
from .reader import Reading
from .silver import arrow_schema, lay_out
from .tables import TABLES

Item = TypeVar("Item")

MOST_RANGES: Final = 64
"""More lines make ranges longer, not more: each has files of its own in every table and bucket."""
_HASHED_AT_ONCE: Final = 4 * 1024 * 1024


Watch = Callable[[int, int], None]
"""Told how many of how many ranges are done."""


def unwatched(done: int, count: int) -> None:
    """Told to none."""


class Runs(Protocol):
    """Where ranges are laid out."""

    cores: int

    def buckets(self, size: int) -> int:
        """Into how many buckets by log the rows of so many bytes of lines are parted."""

    def map(
        self, function: Callable[[int], Item], count: int, watch: Watch = unwatched
    ) -> Iterator[Item]:
        """What a function gives for each number, in their order; how far it is goes to `watch`."""


class Threads:
    """In this process."""

    def __init__(self) -> None:
        """One for each core."""
        self.cores = len(os.sched_getaffinity(0))

    def buckets(self, size: int) -> int:
        """One: all rows are read by one kernel."""
        return 1

    def map(
        self, function: Callable[[int], Item], count: int, watch: Watch = unwatched
    ) -> Iterator[Item]:
        """Side by side, no more of them at once than there are cores."""
        pool = ThreadPoolExecutor(self.cores)
        try:
            for done, found in enumerate(pool.map(function, range(count)), start=1):
                watch(done, count)
                yield found
        finally:
            pool.shutdown(cancel_futures=True)


def write_bulk_tables(
    history: History,
    path: Path,
    targets: Mapping[str, Path],
    *,
    runs: Runs | None = None,
    watch: Watch = unwatched,
) -> list[Problem] | None:
    """Write some tables of the history in a file; what could not be laid out.

    Tables with rows from plain lines become folders of Parquet files. None if the history has too
    much in it that has to be read line by line: nothing is written.
    """
    runs = runs or Threads()
    size = path.stat().st_size
    bulk = {name: targets[name] for name in BULK_TABLES if name in targets}
    passed = Pass(log=ProblemLog(file=history.name))
    try:
        for folder in bulk.values():
            folder.mkdir()
        # Beside the tables: workers of a cluster see nothing else of this machine.
        with TemporaryDirectory(dir=next(iter(targets.values())).parent, suffix=".tmp") as scratch:
            how = LayOut(
                path=path,
                targets=bulk,
                scratch=Path(scratch),
                index_ordered=history.index_ordered,
                buckets=runs.buckets(size),
            )
            joined = _Joined(how, Reading(path, passed), runs)
            with closing(joined.others):
                joined.read(watch)
                history.settle(passed)
                return _write_rest(history, joined, targets)
    except TooMuch:
        for folder in bulk.values():
            shutil.rmtree(folder, ignore_errors=True)
        return None


def _write_rest(history: History, joined: _Joined, targets: Mapping[str, Path]) -> list[Problem]:
    """What is laid out one by one, beside what the ranges wrote."""
    schemas = {name: arrow_schema(TABLES[name]) for name in targets}
    bulk = {
        name: RestWriter(target / REST, schemas[name])
        for name, target in targets.items()
        if name in BULK_TABLES
    }
    few = {name: pq.ParquetWriter(targets[name], schemas[name]) for name in targets.keys() - bulk}
    writes = {name: writer.write for name, writer in bulk.items()}
    writes |= {name: writer.write_table for name, writer in few.items()}
    problems = lay_out(
        history,
        lambda table: writes.get(table.name, lambda rows: None),
        events=joined.others.events(),
        started=joined.started,
    )
    for writer in few.values():
        writer.close()
    for name, rest in bulk.items():
        rest.close(beside=joined.rows(name))
        for left in targets[name].glob("*.part"):
            left.unlink(missing_ok=True)
    return problems


REST: Final = "rest.parquet"
"""The part of a table that was laid out line by line; there is one, also without rows."""


class _Joined:
    """The ranges of a file, joined in their order."""

    def __init__(self, how: LayOut, reading: Reading, runs: Runs) -> None:
        self._how = how
        self._reading = reading
        self._runs = runs
        self.others = OtherLines(how.scratch / "others.jsonl")
        self._sent_by_line: list[int] = []
        self.started: dict[str, int] = {}
        self._open: set[int] = set()
        self._sound: list[tuple[int, Range]] = []
        self._left_out: dict[Range, set[int]] = {}
        self._rows: dict[Range, Mapping[str, int]] = {}

    def rows(self, table: str) -> int:
        """How many rows the ranges wrote into a table."""
        return sum(rows[table] for rows in self._rows.values())

    def read(self, watch: Watch) -> None:
        """Lay all ranges out, and gather what has to be laid out one by one."""
        path = self._how.path
        try:
            with ThreadPoolExecutor(1) as beside, open_regular(path, buffering=0) as file:
                hashed = beside.submit(_hashed, path)
                start, end, size = framed(file)
                self._by_line(_read(file, 0, start).split(b"\n")[:-1])
                self._join([*cut(path, start, end, max(RANGE_BYTES, size // MOST_RANGES))], watch)
                *last, torn = _read(file, end, size).split(b"\n")
                self._by_line(last)
                if torn:
                    self._line(torn, whole=False)
                self._reading.finish(hashed.result(), torn=bool(torn))
        except OSError as cause:
            raise HistoryUnreadable(f"cannot read {path}: {cause.strerror}") from cause
        self._leave_out_retried()

    def _join(self, ranges: Sequence[Range], watch: Watch) -> None:
        laid_out = self._runs.map(partial(_numbered, self._how, ranges), len(ranges), watch)
        for range_, found in zip(ranges, laid_out, strict=True):
            if found.sound and found.first_index == self._reading.next_index:
                self._join_sound(range_, found)
            else:
                discard(self._how, range_)
                self._by_line(range_.read(self._how.path).split(b"\n")[:-1])

    def _join_sound(self, range_: Range, found: JoinedRange) -> None:
        self._reading.pass_over(found.lines)
        self._sound.append((found.first_index, range_))
        self._rows[range_] = found.rows
        self.others.add_file(others_file(self._how, range_), found.others)
        self.others.look_at(self._reading.number)
        for clock, moment in found.started.items():
            self.started.setdefault(clock, moment)
        for process, first, other, begins, ends in found.edges:
            if begins and other >= 0 and process in self._open:
                self._leave_out(first)
            (self._open.add if ends else self._open.discard)(process)

    def _leave_out(self, op: int) -> None:
        """Let an operation that a range laid out be laid out with the rest."""
        place = bisect_right(self._sound, op, key=lambda sound: sound[0]) - 1
        self._left_out.setdefault(self._sound[place][1], set()).add(op)

    def _leave_out_retried(self) -> None:
        """Leave out what is not the only attempt of its send, and lay those ranges out again."""
        files = [sends_file(self._how, range_) for _, range_ in self._sound]
        # What the ranges name, and what was read line by line.
        shares = max(1, min(self._runs.cores, len(files) // 8))
        again = partial(retried_sends, files, self._sent_by_line, shares)
        for ops in self._runs.map(again, shares) if files else ():
            for op in ops:
                self._leave_out(op)
        parted = [*self._left_out.items()]
        for range_, _ in parted:
            discard(self._how, range_)
        laid_out = self._runs.map(partial(_again, self._how, parted), len(parted))
        for (range_, left_out), found in zip(parted, laid_out, strict=True):
            self._rows[range_] = found.rows
            lines = {*left_out, *found.parted}
            for raw in others_file(self._how, range_).read_bytes().split(b"\n")[:-1]:
                event = decode(raw)
                if event["index"] in lines:
                    self.others.add_late(event)

    def _by_line(self, lines: Sequence[bytes]) -> None:
        for raw in lines:
            self._line(raw, whole=True)

    def _line(self, raw: bytes, *, whole: bool) -> None:
        event = self._reading.line(raw, suspect=None, whole=whole)
        if event is None:
            return
        self.others.add(raw)
        self.others.look_at(self._reading.number)
        if (name := _sent(event)) is not None:
            self._sent_by_line.append(fingerprint(name))
        if event["kind"] == "op":
            invokes = event["type"] == "invoke"
            (self._open.add if invokes else self._open.discard)(event["process"])
            moment = event["index" if self._how.index_ordered else "time"]
            self.started.setdefault(event["clock"], moment)


def _sent(event: Event) -> str | None:
    """The name of the send that a line invokes, if it does."""
    if event["kind"] != "op" or event["f"] != "produce" or event["type"] != "invoke":
        return None
    return str(event.get("send") or f"op-{event['index']}")


def _numbered(how: LayOut, ranges: Sequence[Range], number: int) -> JoinedRange:
    return lay_out_range(how, ranges[number])


def _again(how: LayOut, parted: Sequence[tuple[Range, set[int]]], number: int) -> JoinedRange:
    range_, ops = parted[number]
    return lay_out_range(how, range_, frozenset(ops))


def _read(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(end - start)


def _hashed(path: Path) -> LineFeed:
    """The hash of a file, as far as its lines are no longer than a line may be."""
    with open_regular(path, buffering=0) as file:
        feed, carry = LineFeed(file, hashed=True), b""
        while len(carry) <= MAX_LINE_BYTES and (block := file.read(_HASHED_AT_ONCE)):
            whole, newline, carry = (carry + block).rpartition(b"\n")
            if newline:
                feed.hash(whole)
        if carry:
            feed.hash(carry)
    return feed
