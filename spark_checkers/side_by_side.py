"""Many histories in one set of tables; `places` says how they are told from each other.

A history whose numbers have no room beside others is left out and said to be `alone`: it has lines
or processes past 2^40, other numbers past 2^62, or requests about a log without a name.

Histories are read once, one after the other, and never held whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from harness.errors import UsageError
from harness.history import TABLES, History, HistoryError
from harness.history.errors import no_room
from harness.history.micro_operations import MICRO_OPERATIONS
from harness.history.silver import WriteGroup, arrow_schema, lay_out
from harness.history.sources import Source
from harness.history.tables import Table
from spark_checkers.places import MARKED, NUMBERED, OURS, WIDTH, Place

_ROWS_A_GROUP: Final = 131_072
_MICRO: Final = pa.array(sorted(MICRO_OPERATIONS))
_MAY_HAVE_NO_TOPIC: Final = frozenset({"ops", "assignments", "sequence_answers"})


class NoRoom(Exception):
    """The history cannot stand beside others; the message says why."""


def moved(table: Table, rows: pa.Table, place: Place) -> pa.Table:
    """The rows of one history as they stand beside those of others."""
    columns = []
    for column in table.columns:
        values = rows[column.name]
        if column.name in NUMBERED:
            least, greatest = pc.min_max(values).as_py().values()
            if least is not None and (least < 0 or greatest >> WIDTH):
                raise NoRoom(f"{table.name}.{column.name} has numbers past 2^{WIDTH}")
            values = pc.add(values, place.first)
        elif column.type == "bigint":
            least, greatest = (bound or 0 for bound in pc.min_max(values).as_py().values())
            if least < -OURS or greatest >= OURS:
                raise NoRoom(f"{table.name}.{column.name} has numbers past 2^62")
        elif column.name in MARKED:
            nameless = column.name == "topic" and table.name not in _MAY_HAVE_NO_TOPIC
            if nameless and values.null_count:
                raise NoRoom(f"{table.name} has rows without a topic")
            values = pc.binary_join_element_wise(place.mark, values, "")
        columns.append(values)
    return pa.Table.from_arrays(columns, schema=rows.schema)


@dataclass(frozen=True, slots=True, order=True)
class JudgingProfile:
    """By what a history is to be judged; histories on the same ground are judged together."""

    profiles: tuple[str, ...]
    reference: bool


Choose: TypeAlias = Callable[[History], JudgingProfile | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOutHistory:
    """What is known of a history after it was laid out, or why it was not."""

    source: Source
    number: int
    ground: JudgingProfile | None = None
    header: dict[str, Any] = field(default_factory=dict)
    complete: bool = False
    events: int = 0
    operations: int = 0
    transacts: bool = False
    sha256: str = ""
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    alone: str = ""
    unreadable: str = ""


class _TableWriters:
    """The files of one set of tables, and the rows that are still too few to be written."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._held: dict[str, list[pa.Table]] = {}
        self._rows: dict[str, int] = {}
        self._writers: dict[str, pq.ParquetWriter] = {}

    def add(self, table: str, rows: pa.Table) -> None:
        self._held.setdefault(table, []).append(rows)
        self._rows[table] = self._rows.get(table, 0) + rows.num_rows
        if self._rows[table] >= _ROWS_A_GROUP:
            self._write(table)

    def close(self) -> None:
        for table in list(self._held):
            self._write(table)
        for writer in self._writers.values():
            writer.close()

    def _write(self, table: str) -> None:
        rows = pa.concat_tables(self._held.pop(table))
        self._rows[table] = 0
        if table not in self._writers:
            folder = self._folder / table
            folder.mkdir(parents=True, exist_ok=True)
            self._writers[table] = pq.ParquetWriter(folder / f"{self._name}.parquet", rows.schema)
        self._writers[table].write_table(rows, row_group_size=2 * _ROWS_A_GROUP)


def table_folder(folder: Path, table: str) -> Path:
    """The folder of one table, with at least one file in it: engines load no empty folders."""
    path = folder / table
    path.mkdir(parents=True, exist_ok=True)
    pq.write_table(arrow_schema(TABLES[table]).empty_table(), path / "none.parquet")
    return path


def ground_folder(folder: Path, ground: JudgingProfile) -> Path:
    """Where the tables of the histories on one ground are; profiles are no names for folders."""
    return folder / hashlib.sha256(repr(ground).encode()).hexdigest()[:16]


def lay_out_batch(
    batch: Sequence[tuple[int, Source]], folder: Path, choose: Choose
) -> list[LaidOutHistory]:
    """Add some histories, each with its number, to the tables of their grounds in a folder.

    Several processes may do so at once, with batches that share no number.
    """
    shelves: dict[JudgingProfile, _TableWriters] = {}

    def shelf(ground: JudgingProfile) -> _TableWriters:
        if ground not in shelves:
            name = f"from-{batch[0][0]:07}"
            shelves[ground] = _TableWriters(ground_folder(folder, ground), name)
        return shelves[ground]

    try:
        return [_lay_out(Place(number), source, folder, choose, shelf) for number, source in batch]
    finally:
        for opened in shelves.values():
            opened.close()


def _lay_out(
    place: Place,
    source: Source,
    folder: Path,
    choose: Choose,
    shelf: Callable[[JudgingProfile], _TableWriters],
) -> LaidOutHistory:
    laid = LaidOutHistory(source=source, number=place.number)
    try:
        with source.opened(folder) as history:
            ground = choose(history)
            laid = replace(laid, ground=ground, header=dict(history.header))
            return laid if ground is None else _shelve(laid, history, place, shelf(ground))
    except NoRoom as cause:
        return replace(laid, alone=str(cause))
    except (HistoryError, UsageError) as cause:
        if no_room(cause):
            raise
        return replace(laid, unreadable=str(cause))


def _shelve(
    laid: LaidOutHistory, history: History, place: Place, shelf: _TableWriters
) -> LaidOutHistory:
    operations, transacts = 0, False

    def open_table(table: Table) -> WriteGroup:
        def write(rows: pa.Table) -> None:
            nonlocal operations, transacts
            if table.name == "ops":
                operations += rows.num_rows
                transacts = transacts or pc.any(pc.is_in(rows["f"], _MICRO)).as_py()
            if table.name != "problems":
                shelf.add(table.name, moved(table, rows, place))

        return write

    unfit = lay_out(history, open_table)
    problems = tuple(str(problem) for problem in (*history.problems, *unfit))
    footer = history.footer or {"events": 0, "sha256": ""}
    return replace(
        laid,
        complete=history.complete and not problems,
        events=footer["events"],
        operations=operations,
        transacts=transacts,
        sha256=footer["sha256"],
        notes=tuple(history.notes),
        problems=problems,
    )
