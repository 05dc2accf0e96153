"""Ranges of a sealed history, each laid out by itself: in a thread, or in a task of a cluster.

A range is whole lines. What can be said about it without the rest of the history is written: the
rows of operations that begin and end in it. What comes back is small: how it joins the ranges
before and behind. The lines that have to be laid out one by one are written, too.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .files import open_regular
from .lines import MAX_LINE_BYTES

Array = np.ndarray[Any, Any]

BULK_TABLES: Final = ("ops", "responses", "offsets_listed", "records_seen", "sends", "records_sent")
"""The tables that have rows from plain lines."""
RANGE_BYTES: Final = 32 * 1024 * 1024
NO_COMPLETION: Final = -1
_FOOTER: Final = b'{"kind":"footer"'
_PART: Final = re.compile(r"\d+-(\d+)of(\d+)[.]parquet")
_ROWS: Final = b"rows of the table"
_LOOKED_AT: Final = 64 * 1024
_SENDS: Final = np.dtype([("name", np.uint64), ("op", np.int64), ("completion", np.int64)])


class TooMuch(Exception):
    """There is more in a history that is not plain than is held in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Whole lines of a file, from one byte to another."""

    number: int
    start: int
    end: int

    def read(self, path: Path) -> bytes:
        """The lines."""
        with open_regular(path, buffering=0) as file:
            file.seek(self.start)
            parts: list[bytes] = []
            missing = self.end - self.start
            while missing and (found := file.read(missing)):
                parts.append(found)
                missing -= len(found)
        return parts[0] if len(parts) == 1 else b"".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayOut:
    """How the ranges of one file are laid out: where to, and which tables."""

    path: Path
    targets: Mapping[str, Path]
    scratch: Path
    index_ordered: bool
    buckets: int = 1
    """Rows of one log are in one of so many files for each range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedRange:
    """What has to be known of a range to join it to the others.

    `edges` have a row for each process: its number, the index of its first line in the range and of
    the other half of that, whether the first line invokes, whether the last one does. `parted` are
    the completions of operations that were to be left out.
    """

    lines: int = 0
    first_index: int = 0
    sound: bool = False
    others: int = 0
    parted: list[int] = field(default_factory=list)
    edges: list[list[int]] = field(default_factory=list)
    started: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    """How many were written into each table."""


def cut(path: Path, start: int, end: int, size: int) -> Iterator[Range]:
    """The lines between two bytes in ranges of about so many bytes."""
    with open_regular(path, buffering=0) as file:
        for number in itertools.count():
            if start >= end:
                return
            stop = min(start + size, end)
            if stop < end:
                stop = _newline(file, stop - 1, end, 1) + 1
            yield Range(number=number, start=start, end=stop)
            start = stop


def lay_out_range(how: LayOut, range_: Range, without: frozenset[int] = frozenset()) -> JoinedRange:
    """Write the rows of operations that lie in a range, `without` some of them; how it joins."""
    from .range_columns import Operations
    from .range_lines import RangeLines, UnsoundRange

    try:
        lines = RangeLines(range_.read(how.path), index_ordered=how.index_ordered)
    except UnsoundRange:
        return JoinedRange()
    partner, edges = lines.paired()
    left_out = np.array(sorted(without), np.int64) - lines.first_index
    parted = lines.numbers[partner[left_out], 0].tolist()
    sends, names = lines.sent()
    _part(partner, left_out)
    _part(partner, sends[_again(names)])
    asked = np.flatnonzero(partner > np.arange(len(partner)))
    operations = Operations(lines, asked, partner[asked])
    buckets = operations.buckets(how.buckets)
    written = dict.fromkeys(how.targets, 0)
    for table in BULK_TABLES:
        if table not in how.targets:
            continue
        for bucket in range(how.buckets):
            chosen = operations if how.buckets == 1 else operations.chosen(buckets == bucket)
            rows = chosen.rows(table)
            written[table] += rows.num_rows
            if rows.num_rows:
                write_part(rows, part_file(how.targets[table], range_.number, bucket, how.buckets))
    found = np.empty(len(sends), _SENDS)
    found["name"], found["op"] = names, lines.numbers[sends, 0]
    ends = partner[sends]
    found["completion"] = np.where(ends >= 0, lines.numbers[ends, 0], NO_COMPLETION)
    np.save(sends_file(how, range_), found)
    left = np.flatnonzero((partner < 0) | (lines.said == 0)).tolist()
    with _appearing(others_file(how, range_)) as begun, begun.open("wb") as file:
        file.writelines(lines.raw(line) + b"\n" for line in left)
    return JoinedRange(
        lines=len(partner),
        first_index=lines.first_index,
        sound=True,
        others=len(left),
        parted=parted,
        edges=edges.rows(partner).tolist(),
        started=lines.started(),
        rows=written,
    )


def _part(partner: Array, lines: Array) -> None:
    """Take operations apart, given by their first lines."""
    lines = lines[partner[lines] >= 0]
    partner[partner[lines]] = NO_COMPLETION
    partner[lines] = NO_COMPLETION


def _again(names: Array) -> Array:
    """Which of the names occur more than once."""
    _, inverse, counts = np.unique(names, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse] > 1)


def part_file(table: Path, number: int, bucket: int, buckets: int) -> Path:
    """Where rows of a range are, as far as they are in one of so many buckets."""
    return table / f"{number:06d}-{bucket}of{buckets}.parquet"


def bucket_of_part(name: str) -> tuple[int, int] | None:
    """The bucket that a file of a table holds, and of how many; None if it holds any."""
    found = _PART.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else None


def bucket_of(topic: str, partition: int, buckets: int) -> int:
    """In which of so many buckets the rows of a log are."""
    print_ = 0xCBF29CE484222325
    for byte in topic.encode():
        print_ = (print_ ^ byte) * 0x100000001B3 % 2**64
    return (print_ + partition) % 2**64 % buckets


def sends_file(how: LayOut, range_: Range) -> Path:
    """Where the sends of a range are named."""
    return how.scratch / f"sends-{range_.number:06d}.npy"


def others_file(how: LayOut, range_: Range) -> Path:
    """Where the lines of a range are that have to be laid out one by one."""
    return how.scratch / f"others-{range_.number:06d}.jsonl"


@contextmanager
def _appearing(file: Path) -> Iterator[Path]:
    """Where to write a file that is there when it is whole: a task that was killed is repeated."""
    begun = file.with_suffix(f".{os.getpid()}.part")
    yield begun
    os.replace(begun, file)


def write_part(rows: pa.Table, file: Path) -> None:
    """Rows as a Parquet file. Texts in dictionaries are plain texts to who reads it."""
    few = [f.name for f in rows.schema if pa.types.is_dictionary(f.type)]
    with (
        _appearing(file) as begun,
        pq.ParquetWriter(begun, rows.schema, use_dictionary=few, store_schema=False) as writer,
    ):
        writer.write_table(rows, row_group_size=1 << 20)


class RestWriter:
    """The rows that were laid out one by one, in a file that tells how many the table has."""

    def __init__(self, file: Path, schema: pa.Schema) -> None:
        """`close` tells it."""
        self._writer = pq.ParquetWriter(file, schema, use_dictionary=False, store_schema=False)
        self._rows = 0

    def write(self, rows: pa.Table) -> None:
        """Some more."""
        self._writer.write_table(rows, row_group_size=1 << 20)
        self._rows += rows.num_rows

    def close(self, beside: int) -> None:
        """No more; so many are in other files."""
        self._writer.add_key_value_metadata({_ROWS: b"%d" % (self._rows + beside)})
        self._writer.close()


def is_whole(table: Path) -> bool:
    """Whether all rows of a table are there, as far as the table tells how many were written."""
    try:
        files = {file.name: pq.read_metadata(file) for file in table.glob("*.parquet")}
    except (OSError, pa.ArrowException):
        return False
    told = [int(file.metadata[_ROWS]) for file in files.values() if _ROWS in (file.metadata or ())]
    if told:
        return told == [sum(file.num_rows for file in files.values())]
    return not any(map(bucket_of_part, files))


def discard(how: LayOut, range_: Range) -> None:
    """Delete what was written of a range."""
    for table in how.targets.values():
        for bucket in range(how.buckets):
            part_file(table, range_.number, bucket, how.buckets).unlink(missing_ok=True)


def retried_sends(files: list[Path], others: list[int], shares: int, share: int) -> list[int]:
    """Operations that were laid out as the only attempt of their send, and are not; of all names
    one share in so many. `others` are names of what was not laid out by ranges."""
    held = np.array(others, np.uint64)
    sends = [np.load(file) for file in files]
    mine = np.concatenate([one[one["name"] % np.uint64(shares) == share] for one in sends])
    again = _again(mine["name"]) | np.isin(mine["name"], held)
    found: list[int] = mine["op"][again & (mine["completion"] >= 0)].tolist()
    return found


def framed(file: BinaryIO) -> tuple[int, int, int]:
    """Where the lines behind the first one begin, where those before a footer end, and the size of
    the file."""
    size = os.fstat(file.fileno()).st_size
    start = _newline(file, 0, size, 1) + 1
    end = _newline(file, size, 0, -1) + 1
    last = _newline(file, max(end - 1, 0), 0, -1) + 1
    file.seek(last)
    if last >= start and file.read(len(_FOOTER)) == _FOOTER:
        end = last
    return start, max(start, end), size


def _newline(file: BinaryIO, at: int, end: int, way: int) -> int:
    """Where the next newline is, looking this way or that from some place; -1 if there is none."""
    begun = at
    while at != end:
        step = min(_LOOKED_AT, abs(end - at))
        start = at if way > 0 else at - step
        file.seek(start)
        seen = file.read(step)
        found = seen.find(b"\n") if way > 0 else seen.rfind(b"\n")
        if found >= 0:
            return start + found
        at += way * step
        if abs(at - begun) > 2 * MAX_LINE_BYTES:
            raise TooMuch  # of one line, which is told by how far it goes
    return -1
