"""A run in a notebook: its header, and its silver tables as pandas DataFrames.

    from harness.history import open_run

    run = open_run("runs/7193")
    ops = run.tables["ops"]
    ops.groupby("f").type.value_counts()

Numbers that may be missing keep all their digits (`Int64`). Tables that were laid out when the run
was judged are read as they are; those of any other history are laid out anew, in a folder that goes
with the run.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from harness.scratch import ScratchFolder

from .reader import read_history
from .run import HISTORY_FILE
from .silver import write_tables
from .tables import TABLES

if TYPE_CHECKING:
    from pandas import DataFrame

TABLES_FOLDER = "tables"
PART_ROWS = 250_000

Where = Sequence[tuple[str, str, object]]
"""Conditions on columns, such as `("topic", "==", "t")` or `("op", "in", [4, 9])`."""


class Frames(Mapping[str, "DataFrame"]):
    """The silver tables by name, each read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        """From the Parquet files in a folder."""
        self._folder = folder

    def __getitem__(self, name: str) -> DataFrame:
        return self.read(name)

    def read(
        self, name: str, columns: Sequence[str] | None = None, where: Where | None = None
    ) -> DataFrame:
        """A table, or some columns of it, of the rows that fit all conditions."""
        table = pq.read_table(self._file(name), columns=columns, filters=where)
        return _frame(table)

    def parts(self, name: str, columns: Sequence[str]) -> Iterator[DataFrame]:
        """Some columns of a table, a part of the rows at a time, in the order of the file."""
        for part in _parts(self._file(name)):
            for batch in pq.ParquetFile(part).iter_batches(PART_ROWS, columns=[*columns]):
                yield _frame(pa.Table.from_batches([batch]))

    def rows(self, name: str) -> int:
        """How many rows a table has, without reading them."""
        return sum(int(pq.read_metadata(part).num_rows) for part in _parts(self._file(name)))

    def _file(self, name: str) -> Path:
        if name not in TABLES:
            raise KeyError(f"there is no table {name}; there are {', '.join(TABLES)}")
        return self._folder / f"{name}.parquet"

    def __iter__(self) -> Iterator[str]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)


def _frame(table: pa.Table) -> DataFrame:
    import pandas

    kinds = {
        pa.int64(): pandas.Int64Dtype(),
        pa.int32(): pandas.Int32Dtype(),
        pa.bool_(): pandas.BooleanDtype(),
        pa.string(): pandas.StringDtype(),
    }
    frame: DataFrame = table.to_pandas(types_mapper=kinds.get)
    return frame


class OpenedRun:
    """A sealed run, or a sealed history alone: its header and its tables."""

    def __init__(self, path: Path) -> None:
        """`path` is the folder of the run, or the file of the history."""
        file = path / HISTORY_FILE if path.is_dir() else path
        history = read_history(file)
        self.header: Mapping[str, Any] = history.header
        self.tables = Frames(file.parent / TABLES_FOLDER)
        if not _laid_out(file, file.parent / TABLES_FOLDER):
            scratch = ScratchFolder("tables")
            self.tables = Frames(scratch.path / TABLES_FOLDER)
            weakref.finalize(self.tables, scratch.close)
            write_tables(history, scratch.path / TABLES_FOLDER)


def open_run(path: Path | str) -> OpenedRun:
    """Open a run for looking at; nothing in it is changed."""
    return OpenedRun(Path(path))


def _laid_out(history: Path, folder: Path) -> bool:
    """Whether all tables are there, made from the history as it is."""
    files = [folder / f"{name}.parquet" for name in TABLES]
    return all(
        file.exists() and file.stat().st_mtime_ns >= history.stat().st_mtime_ns for file in files
    )


def _parts(table: Path) -> list[Path]:
    """The files of a table: of a large one there are several."""
    return sorted(table.glob("*.parquet")) if table.is_dir() else [table]
