"""Histories: everything observed in a run, recorded so that nothing is lost in silence.

Record with `Run` and `ShardWriter`, seal with `Run.seal`, read with `read_history` or
`import_history`, lay out as tables with `write_tables`. The format is in `FORMAT.md`.

The names of `silver` and `frames` are loaded when first used: Arrow takes a second to import, and a
process that only records has no need of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import (
    EventRefused,
    FormatUnsupported,
    HistoryError,
    HistoryUnreadable,
    RunFolderError,
    ShardClosed,
    ShardWriteFailed,
    TableDataError,
)
from .history import History, history_of
from .importers import FORMS, import_history
from .kafka_errors import Definite, Indefinite, classify, definiteness, error_name
from .problems import Problem
from .reader import read_history
from .rows import REGISTER_CALLS
from .run import Run
from .schema import FORMAT, load_schema
from .seal import Sealed
from .shards import ShardWriter
from .tables import TABLES, Column, Table

if TYPE_CHECKING:
    from .frames import OpenedRun, open_run
    from .silver import Collected, Written, arrow_schema, collect_tables, write_tables

_SILVER = frozenset({"Collected", "Written", "arrow_schema", "collect_tables", "write_tables"})
_FRAMES = frozenset({"OpenedRun", "open_run"})

__all__ = [
    "FORMAT",
    "FORMS",
    "REGISTER_CALLS",
    "TABLES",
    "Collected",
    "Column",
    "Definite",
    "EventRefused",
    "FormatUnsupported",
    "History",
    "HistoryError",
    "HistoryUnreadable",
    "Indefinite",
    "OpenedRun",
    "Problem",
    "Run",
    "RunFolderError",
    "Sealed",
    "ShardClosed",
    "ShardWriteFailed",
    "ShardWriter",
    "Table",
    "TableDataError",
    "Written",
    "arrow_schema",
    "classify",
    "collect_tables",
    "definiteness",
    "error_name",
    "history_of",
    "import_history",
    "load_schema",
    "open_run",
    "read_history",
    "write_tables",
]


def __getattr__(name: str) -> Any:
    if name in _SILVER:
        from . import silver

        return getattr(silver, name)
    if name in _FRAMES:
        from . import frames

        return getattr(frames, name)
    raise AttributeError(f"module {__name__} has no attribute {name}")
