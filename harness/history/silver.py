"""Silver tables on disk or in memory.

Rows are gathered in small batches, turned into Arrow, and written as Parquet row groups, so memory
does not grow with the history. A row whose values do not fit its columns (it comes from a line that
says one thing and means another) is taken out, reported as a problem, and the others are kept.
Every table asked for is written, also when it is empty: a checker may rely on all of them.

Files appear under their names only when all of them are whole.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import RunFolderError
from .history import History
from .lines import Event
from .problems import Problem, ProblemLog
from .rows import RowBuilder
from .sends import Row
from .tables import TABLES, Table

if TYPE_CHECKING:
    from .bulk import Runs, Watch

BULK_BYTES: Final = 8 * 1024 * 1024
"""Below, reading line by line is over before machine code is loaded, or not much later."""
_ROWS_A_BATCH: Final = 8_192
_ROWS_A_GROUP: Final = 131_072
_ARROW: Final[Mapping[str, pa.DataType]] = {
    "bigint": pa.int64(),
    "int": pa.int32(),
    "string": pa.string(),
    "boolean": pa.bool_(),
}
_UNFIT: Final = (pa.ArrowException, TypeError, ValueError, OverflowError)


WriteGroup: TypeAlias = Callable[[pa.Table], None]
OpenTable: TypeAlias = Callable[[Table], WriteGroup]


class Written(dict[str, Path]):
    """Where each table was written, and what of the history could not be laid out."""

    problems: list[Problem]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The tables of a small history in memory, and what of it could not be laid out."""

    tables: dict[str, pa.Table]
    problems: list[Problem]


def arrow_schema(table: Table) -> pa.Schema:
    """The Arrow schema of a silver table."""
    return pa.schema([(column.name, _ARROW[column.type]) for column in table.columns])


_SCHEMAS: Final = {name: arrow_schema(table) for name, table in TABLES.items()}
# `empty_table` would load pandas.
_EMPTY: Final = {name: pa.Table.from_batches([], schema) for name, schema in _SCHEMAS.items()}


class _Sink:
    """Gathers rows of one table and passes them on as row groups."""

    def __init__(self, table: Table, write: WriteGroup, unfit: Callable[[Row, str], None]) -> None:
        self._schema = _SCHEMAS[table.name]
        self._write = write
        self._unfit = unfit
        self._rows: list[Row] = []
        self._batches: list[pa.RecordBatch] = []
        self._held = 0

    def add(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) >= _ROWS_A_BATCH:
            self._batch()

    def _batch(self) -> None:
        rows, self._rows = self._rows, []
        try:
            batch = pa.RecordBatch.from_pylist(rows, schema=self._schema)
        except _UNFIT:
            fitting = [row for row in rows if self._fits(row)]
            batch = pa.RecordBatch.from_pylist(fitting, schema=self._schema)
        self._batches.append(batch)
        self._held += batch.num_rows
        if self._held >= _ROWS_A_GROUP:
            self._group()

    def _fits(self, row: Row) -> bool:
        try:
            pa.RecordBatch.from_pylist([row], schema=self._schema)
        except _UNFIT as cause:
            self._unfit(row, str(cause))
            return False
        return True

    def _group(self) -> None:
        self._write(pa.Table.from_batches(self._batches, schema=self._schema))
        self._batches, self._held = [], 0

    def finish(self) -> None:
        if self._rows:
            self._batch()
        if self._held:
            self._group()


def lay_out(
    history: History,
    open_table: OpenTable,
    *,
    events: Iterable[Event] | None = None,
    started: Mapping[str, int] | None = None,
) -> list[Problem]:
    """Give every row of a history to what `open_table` returns for its table; the result is what
    could not be laid out. Only some `events` of it if they are given; clocks `started` then."""
    log = ProblemLog(file=history.name)

    def problem(event: Event, reason: str) -> None:
        index = event["index"]
        log.add(history.line_of(index), f"event {index}: {reason}")

    sinks: dict[str, _Sink] = {}
    for name, table in TABLES.items():
        first = table.columns[0].name

        def unfit(row: Row, reason: str, name: str = name, first: str = first) -> None:
            problem({"index": row[first]}, f"does not fit table {name}, row dropped: {reason}")

        sinks[name] = _Sink(table, open_table(table), unfit)
    builder = RowBuilder(history, lambda name, row: sinks[name].add(row), problem, started)
    for event in history.events if events is None else events:
        builder.feed(event)
    builder.finish()
    for name, sink in sinks.items():
        if name != "problems":
            sink.finish()
    for found in [*history.problems, *log.listed()]:
        sinks["problems"].add({"line": found.line, "file": found.file, "reason": found.reason})
    sinks["problems"].finish()
    return log.listed()


def write_tables(
    history: History,
    folder: Path | str,
    *,
    only: Collection[str] = TABLES.keys(),
    runs: Runs | None = None,
    watch: Watch | None = None,
) -> Written:
    """Write tables of `TABLES`, all of them unless told, into a folder as `NAME.parquet`, each a
    file, or of a large history a folder of files. Ranges of it are laid out where `runs` puts them;
    `watch` is told how many of how many are.

    The result maps names to files; its `problems` are what could not be laid out in any table,
    written or not, beside `history.problems`, which are what could not be read.
    """
    folder = Path(folder)
    paths = {name: folder / f"{name}.parquet" for name in TABLES if name in only}
    if folder.is_symlink():
        raise RunFolderError(f"{folder} is a link; tables are written where they are asked for")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = {name: path.with_suffix(".tmp") for name, path in paths.items()}
        for path in fresh.values():
            _remove(path)
        written = Written(paths)
        written.problems = _write(history, fresh, runs, watch)
        for name, path in paths.items():
            _remove(path)
            os.replace(fresh[name], path)
    except OSError as cause:
        reason = cause.strerror or str(cause)
        raise RunFolderError(f"cannot write tables into {folder}: {reason}") from cause
    return written


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write(
    history: History, paths: Mapping[str, Path], runs: Runs | None, watch: Watch | None
) -> list[Problem]:
    """Many lines at a time where the history is a file; one by one where that does not do."""
    if history.path is not None and history.path.stat().st_size >= BULK_BYTES:
        from .bulk import unwatched, write_bulk_tables

        # Tasks run elsewhere, and have a working folder of their own.
        whole = {name: path.absolute() for name, path in paths.items()}
        problems = write_bulk_tables(
            history, history.path.absolute(), whole, runs=runs, watch=watch or unwatched
        )
        if problems is not None:
            return problems
    writers: dict[str, pq.ParquetWriter] = {}

    def open_table(table: Table) -> WriteGroup:
        if table.name not in paths:
            return lambda rows: None
        writer = writers[table.name] = pq.ParquetWriter(paths[table.name], arrow_schema(table))
        return lambda rows: writer.write_table(rows, row_group_size=_ROWS_A_GROUP * 2)

    try:
        return lay_out(history, open_table)
    finally:
        for writer in writers.values():
            writer.close()


def collect_tables(history: History) -> Collected:
    """The same tables in memory, for small histories that are judged at once."""
    groups: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
    problems = lay_out(history, lambda table: groups[table.name].append)
    tables = {
        name: pa.concat_tables(parts) if parts else _EMPTY[name] for name, parts in groups.items()
    }
    return Collected(tables=tables, problems=problems)
