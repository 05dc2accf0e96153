"""Reading a sealed history a block at a time, into columns.

A block is cut into lines, plain lines (`plain_lines`) are turned into rows by DuckDB, all others
are decoded one by one. Only a block in which every line is an event with the index that is due, no
key of a plain line twice, counts as read this way. Any other block is read as `reader` reads it,
line by line, with the same words for what is wrong with it. So are header and footer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .files import open_regular
from .history import Pass
from .lines import BadLine, Event, LineFeed, decode
from .plain_lines import FIELDS, PLAIN, TRANSFORM
from .reader import Reading
from .schema import EVENT_KINDS, line_fault

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_BLOCK_BYTES: Final = 32 * 1024 * 1024
OTHERS_HELD: Final = 200_000
"""So many lines that are not plain are held in memory; beyond, the history is read by lines."""

_FOUND = " + ".join(f'CAST("{name}" IS NOT NULL AS INT)' for name in FIELDS)
_STAGE = "CREATE OR REPLACE TEMP TABLE {block} AS SELECT {columns} FROM {lines}"
_COLUMNS = f"place, size, names, unnest(json_transform(line, '{TRANSFORM}'))"
_UNSOUND = f"""
    SELECT count(*) FROM {{block}}
    WHERE names <> {_FOUND} OR time IS NULL OR clock IS NULL OR process IS NULL
"""
_NO_LINES = "(SELECT '{}' AS line, 0 AS place, 0 AS size, 0 AS names LIMIT 0)"


class TooMuch(Exception):
    """There is more in a history that is not plain than is held in memory."""


@dataclass(slots=True)
class BulkRead:
    """What was read of a history: plain lines in tables of `db`, by block, the others here."""

    db: DuckDBPyConnection
    others: list[Event] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)

    def add(self, event: Event) -> None:
        """Hold one more event; `TooMuch` where that would be too many."""
        self.others.append(event)
        if len(self.others) > OTHERS_HELD:
            raise TooMuch

    def next_block(self) -> str:
        """The name of the table for the plain lines of the next block."""
        return f"block_{len(self.blocks)}"

    def finish(self) -> None:
        """Let `plain` be the plain lines of all blocks."""
        if not self.blocks:
            self.db.execute(
                _STAGE.format(block=self.next_block(), columns=_COLUMNS, lines=_NO_LINES)
            )
            self.blocks.append(self.next_block())
        lines = " UNION ALL ".join(f"SELECT * FROM {block}" for block in self.blocks)
        self.db.execute(f"CREATE OR REPLACE TEMP VIEW plain AS {lines}")


def read_bulk(path: Path, passed: Pass, db: DuckDBPyConnection) -> BulkRead:
    """All events of a file: plain ones as rows of `plain`, the others decoded."""
    read = BulkRead(db)
    reading = Reading(path, passed)
    with open_regular(path, buffering=0) as file:
        feed = LineFeed(file, hashed=True)
        place, carry = 0, b""
        while block := file.read(_BLOCK_BYTES):
            carry += block
            whole, newline, carry = carry.rpartition(b"\n")
            if not newline:
                if len(carry) > 2 * _BLOCK_BYTES:
                    raise TooMuch  # of one line, which is told by how far it goes
                continue
            feed.hash(whole)
            _read_block(_Lines(whole + newline, place), reading, read)
            place += len(whole) + 1
        if carry:
            feed.hash(carry)
            _by_line([carry], reading, read, whole=False)
        reading.finish(feed, torn=bool(carry))
    read.finish()
    return read


class _Lines:
    """The lines of a block, each with its newline, without a copy."""

    def __init__(self, block: bytes, place: int) -> None:
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
        self.bounds = np.concatenate([[0], ends]).astype(np.int32)
        self.block = block
        self.place = place
        buffers = [None, pa.py_buffer(self.bounds), pa.py_buffer(block)]
        self.array = pa.BinaryArray.from_buffers(pa.binary(), len(ends), buffers)

    def raw(self, number: int) -> bytes:
        return self.block[self.bounds[number] : self.bounds[number + 1] - 1]


def _read_block(lines: _Lines, reading: Reading, read: BulkRead) -> None:
    first, last = 0, len(lines.array)
    if reading.number == 0:
        _by_line([lines.raw(0)], reading, read)
        first = 1
    footer = last > first and lines.raw(last - 1).startswith(b'{"kind":"footer"')
    last -= footer
    if first < last and not _columns(lines, first, last, reading, read):
        _by_line([lines.raw(number) for number in range(first, last)], reading, read)
    if footer:
        _by_line([lines.raw(last)], reading, read)


def _columns(lines: _Lines, first: int, last: int, reading: Reading, read: BulkRead) -> bool:
    """Whether all of the lines could be read, as columns where they are plain, decoded if not."""
    array = lines.array[first:last]
    plain = pc.match_substring_regex(array, PLAIN)
    chosen = plain.to_numpy(zero_copy_only=False)
    others: list[Event] = []
    indexes = np.full(last - first, -1, np.int64)
    for number in np.flatnonzero(~chosen):
        event = _event(lines.raw(first + int(number)))
        if event is None:
            return False
        indexes[number] = event["index"]
        others.append(event)
    block = _stage(lines, first, array.filter(plain), chosen, read)
    unsound: Any = read.db.execute(_UNSOUND.format(block=block)).fetchone()
    if unsound[0]:
        return False
    indexes[chosen] = read.db.execute(f"SELECT index FROM {block}").fetchnumpy()["index"]
    due = reading.next_index
    if not np.array_equal(indexes, np.arange(due, due + last - first)):
        return False
    reading.pass_over(last - first)
    read.blocks.append(block)
    for event in others:
        read.add(event)
    return True


def _stage(
    lines: _Lines, first: int, plain: Any, chosen: np.ndarray[Any, Any], read: BulkRead
) -> str:
    """A table of plain lines, in their order; its name."""
    starts = lines.bounds[first : first + len(chosen)][chosen]
    ends = lines.bounds[first + 1 : first + 1 + len(chosen)][chosen]
    columns = {
        "line": plain.cast(pa.string()),
        "place": pa.array(starts.astype(np.int64) + lines.place),
        "size": pa.array(ends - starts),
        # `kind` is none of the fields.
        "names": pc.subtract(pc.count_substring(plain, '":'), 1),
    }
    block = read.next_block()
    read.db.register("block_lines", pa.table(columns))
    read.db.execute(_STAGE.format(block=block, columns=_COLUMNS, lines="block_lines"))
    read.db.unregister("block_lines")
    return block


def _event(raw: bytes) -> Event | None:
    """The event of a line; None if it is none, or none that has its place by its index."""
    try:
        event = decode(raw)
    except BadLine:
        return None
    sound = line_fault(event) is None and event["kind"] in EVENT_KINDS
    return event if sound and event.get("index") is not None else None


def _by_line(lines: list[bytes], reading: Reading, read: BulkRead, *, whole: bool = True) -> None:
    for raw in lines:
        event = reading.line(raw, suspect=None, whole=whole)
        if event is not None:
            read.add(event)
