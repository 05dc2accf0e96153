"""The kernel: DuckDB over the tables of a history, or of one shard of it.

`--engine inline` is one kernel in this process over the whole history. On Spark every task has a
kernel of its own over its shard. Both run the same SQL, and the same Python functions for searches
and cycles. A kernel knows nothing of rules: it loads tables, defines views, returns the few rows
that a query asks for, and runs one Python function for each key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet

from harness.history import TABLES
from harness.history.ranges import bucket_of_part
from spark_checkers.sessions import duckdb_connection

Row = dict[str, Any]
KeyFunction = Callable[[list[Row]], list[Row]]
Log = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A part of the tables that keeps some key whole: some logs, or the files of some histories.

    Rows that are about no log (`topic` or `partition` is null) concern every log, so they are in
    every shard of logs; they are counted in the `first` one. Where tables were laid out in
    `buckets` of logs, those named are the shard's whole, and `logs` says of the other files which
    rows belong to it.
    """

    logs: tuple[Log, ...] | None = None
    files: tuple[str, ...] | None = None
    buckets: tuple[int, ...] | None = None
    first: bool = True


WHOLE: Final = Shard()

# A number that is equal for equal arguments, and for others as good as never; nulls count. Rows are
# matched by it instead of by several long texts.
_LETTERS = "a, b, c, d, e, f"
_FINGERPRINT = f"CREATE MACRO fingerprint({_LETTERS}) AS hash({_LETTERS})"
_OF_SHARD = """
    WHERE t.topic IS NULL OR t.partition IS NULL OR EXISTS (
      SELECT 1 FROM shard_logs s WHERE s.topic = t.topic AND s.partition = t.partition)
"""


class Kernel:
    """DuckDB in this process, in memory; what does not fit goes to disk."""

    def __init__(
        self, shard: Shard = WHOLE, *, threads: int | None = None, memory: str = "50%"
    ) -> None:
        """Over one shard of what is loaded, on so many `threads` (all cores unless told)."""
        self.shard = shard
        self.defined: set[str] = set()
        self._db = duckdb_connection(memory)
        if threads is not None:
            self._db.execute(f"SET threads = {threads}")
        self._db.execute(_FINGERPRINT)
        if shard.logs is not None:
            topics, partitions = zip(*shard.logs, strict=True) if shard.logs else ((), ())
            logs = pa.table(
                {"topic": pa.array(topics, pa.string()), "partition": pa.array(partitions)}
            )
            self._db.register("shard_logs_given", logs)
            self._db.execute(
                "CREATE TEMP TABLE shard_logs AS SELECT topic, CAST(partition AS INT) AS partition"
                " FROM shard_logs_given"
            )

    def load(self, table: str, path: Path) -> None:
        """Make a Parquet file or folder queryable under a name, as far as it is in the shard."""
        self.load_files(table, parquet_files(path))

    def load_files(self, table: str, files: Sequence[Path]) -> None:
        """The same of the files that a table has: one that is gone is missed, not passed over."""
        self.defined.clear()
        about_logs = {"topic", "partition"} <= {column.name for column in TABLES[table].columns}
        kept = _OF_SHARD if self.shard.logs is not None and about_logs else ""
        files, whole = self._own(files), []
        if self.shard.buckets is not None:
            parted = {file: bucket_of_part(file.name) for file in files}
            files = [file for file, bucket in parted.items() if bucket is None]
            whole = [
                f for f, bucket in parted.items() if bucket and bucket[0] in self.shard.buckets
            ]
        files, whole = list(filter(row_count, files)), list(filter(row_count, whole))
        parts = [f"SELECT t.* FROM {parquet_of(files)} t {kept}"] if files else []
        parts += [f"SELECT * FROM {parquet_of(whole)}"] if whole else []
        columns = {column.name: column.type for column in TABLES[table].columns}
        rows = " UNION ALL ".join(parts) or _without_rows(columns)
        self._db.execute(f"CREATE OR REPLACE VIEW {table} AS {rows}")

    def define(self, view: str, sql: str, *, shared: bool) -> None:
        """Define a view; a shared one is computed once, and known to be empty if it is."""
        if shared:
            computed = f"{view}_computed"
            made = self._db.execute(f"CREATE OR REPLACE TEMP TABLE {computed} AS {sql}").fetchone()
            sql = f"SELECT * FROM {computed}"
            if made == (0,):
                described = self._rows(f"DESCRIBE {computed}")
                sql = _without_rows({row["column_name"]: row["column_type"] for row in described})
        self._db.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS {sql}")
        self.defined.add(view)

    def rows(self, sql: str) -> list[Row]:
        """The rows of a query whose answer is small."""
        return list(self._rows(sql))

    def answers(self, queries: Sequence[str]) -> Iterator[list[Row] | Exception]:
        """The rows of each query, or what kept it from being answered; others do not suffer."""
        return map(partial(_answer, self.rows), queries)

    def per_key(
        self, table: str, key: Sequence[str], function: KeyFunction, where: str = "TRUE"
    ) -> list[Row]:
        """Apply a function to the rows of each key, in order of `op`; key columns are added."""
        columns = ", ".join(key)
        ordered = self._rows(f"SELECT * FROM {table} WHERE {where} ORDER BY {columns}, op")
        results: list[Row] = []
        for values, group in groupby(ordered, key=lambda row: tuple(row[c] for c in key)):
            named = dict(zip(key, values, strict=True))
            results += [{**named, **result} for result in function(list(group))]
        return results

    def close(self) -> None:
        """Let go of what the kernel holds."""
        self._db.close()

    def _own(self, files: Sequence[Path]) -> list[Path]:
        if self.shard.files is None:
            return list(files)
        # One file at least, so that the table has its columns.
        return [f for f in files if f.name in self.shard.files or f.name == NO_ROWS]

    def _rows(self, sql: str) -> Iterator[Row]:
        cursor = self._db.execute(sql)
        names = [column[0] for column in cursor.description or ()]
        while batch := cursor.fetchmany(4096):
            for values in batch:
                yield dict(zip(names, values, strict=True))


NO_ROWS: Final = "none.parquet"
"""The file without rows that every folder of a table has."""


def parquet_files(path: Path) -> list[Path]:
    """The files of a table, which is a folder of them, or one."""
    return sorted(path.glob("*.parquet")) if path.is_dir() else [path]


def parquet_of(files: Iterable[Path]) -> str:
    """Parquet files as a table of a query."""
    quoted = ("'" + str(file).replace("'", "''") + "'" for file in files)
    return f"read_parquet([{', '.join(quoted)}])"


def row_count(file: Path) -> int:
    """How many rows a Parquet file of this machine holds."""
    return int(parquet.read_metadata(file).num_rows)


def _without_rows(columns: Mapping[str, str]) -> str:
    """A query of columns by their types. What is joined with it is not even read: DuckDB knows when
    it plans that there are no rows."""
    nulls = (f"CAST(NULL AS {type_}) AS {name}" for name, type_ in columns.items())
    return f"SELECT {', '.join(nulls)} WHERE FALSE"


def _answer(rows: Callable[[str], list[Row]], sql: str) -> list[Row] | Exception:
    try:
        return rows(sql)
    except Exception as error:
        return error
