"""The views that rules share: one SQL file each, with the views and tables it reads.

The opening comment of a file says what a row of the view means. A view is built only if a selected
rule needs it; one whose comment ends with the line `computed once` is computed then, because
several others stand on it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from harness.history import TABLES

_FOLDER = Path(__file__).parent / "views"
_SOURCE = re.compile(r"\b(?:FROM|JOIN)\s+([a-z_]+)", re.IGNORECASE)


@cache
def view_names() -> tuple[str, ...]:
    """Every view, by name."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.sql")))


@cache
def view_sql(name: str) -> str:
    """The query behind a view, without its opening comment."""
    lines = (_FOLDER / f"{name}.sql").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


@cache
def is_computed_once(name: str) -> bool:
    """Whether the view is computed when it is defined, for all that stand on it."""
    text = (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
    return "\n-- computed once\n" in text


def views_needed(tables: set[str]) -> list[str]:
    """The views among the tables and those they stand on, each after what it needs."""
    ordered: list[str] = []

    def visit(name: str) -> None:
        if name not in view_names() or name in ordered:
            return
        for source in _SOURCE.findall(view_sql(name)):
            visit(source)
        ordered.append(name)

    for table in sorted(tables):
        visit(table)
    return ordered


def base_tables(tables: set[str]) -> set[str]:
    """The silver tables that the named tables and views finally read."""
    named = {name for view in views_needed(tables) for name in _SOURCE.findall(view_sql(view))}
    return (named | tables) & set(TABLES)
