"""Silver tables of a sealed history without a Python object for each line.

Plain lines are read and laid out by DuckDB (`bulk_reader`, `bulk_rows`), all others by `rows`. The
tables, and what is told about lines that cannot be used, are those that `rows` alone would make of
the history; only the order of the rows in a file is another.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from harness.scratch import ScratchFolder

from .bulk_reader import TooMuch, read_bulk
from .bulk_rows import BULK_TABLES, bulk_query, lay_out_bulk
from .errors import HistoryUnreadable
from .history import History, Pass
from .problems import Problem, ProblemLog
from .silver import arrow_schema, lay_out
from .tables import TABLES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ROWS_A_GROUP: Final = 122_880


def write_bulk_tables(
    history: History, path: Path, targets: Mapping[str, Path]
) -> list[Problem] | None:
    """Write some tables of the history in a file; what could not be laid out.

    None if the history has too much in it that has to be read line by line: nothing is written.
    """
    with (
        ScratchFolder("lay-out") as scratch,
        duckdb.connect(":memory:", config={"temp_directory": str(scratch)}) as db,
    ):
        # Its bar would be drawn into whatever is printed.
        db.execute("SET enable_progress_bar_print = false")
        return _write(history, path, targets, db)


def _write(
    history: History, path: Path, targets: Mapping[str, Path], db: DuckDBPyConnection
) -> list[Problem] | None:
    passed = Pass(log=ProblemLog(file=history.name))
    try:
        read = read_bulk(path, passed, db)
        rest, started = lay_out_bulk(read, path, db, index_ordered=history.index_ordered)
    except TooMuch:
        return None
    except OSError as cause:
        raise HistoryUnreadable(f"cannot read {path}: {cause.strerror}") from cause
    history.settle(passed)
    groups: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
    problems = lay_out(
        history, lambda table: groups[table.name].append, events=rest, started=started
    )
    for name, target in targets.items():
        rows = pa.concat_tables([arrow_schema(TABLES[name]).empty_table(), *groups[name]])
        if name in BULK_TABLES:
            _copy(db, name, rows, target)
        else:
            pq.write_table(rows, target)
    return problems


def _copy(db: DuckDBPyConnection, name: str, rows: pa.Table, target: Path) -> None:
    """Rows from plain lines and those laid out one by one, as a Parquet file."""
    db.register("one_by_one", rows)
    file = str(target).replace("'", "''")
    union = f"{bulk_query(name)} UNION ALL SELECT * FROM one_by_one"
    try:
        db.execute(f"COPY ({union}) TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE {_ROWS_A_GROUP})")
    except duckdb.IOException as cause:
        number = errno.ENOSPC if "No space left" in str(cause) else errno.EIO
        raise OSError(number, str(cause).splitlines()[0]) from cause
    finally:
        db.unregister("one_by_one")
