"""The views that rules share: one SQL file each, with the views and tables it reads.

The opening comment of a file says what a row of the view means. A view is built only if a selected
rule needs it; one whose comment ends with the line `computed once` is computed then, because
several others stand on it. A row of a view is computed from rows about its own log, and from rows
that concern every log, unless its comment has a line `complete within the KEY`.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from harness.history import TABLES
from harness.rules import Holds, Judge, Key

# Not a path: on the workers of a cluster this package is an archive.
_FOLDER = files(__package__) / "views"
_WITHIN = re.compile(r"^-- complete within the (\w+)", re.MULTILINE)
_SOURCE = re.compile(r"\b(?:FROM|JOIN)\s+([a-z_]+)", re.IGNORECASE)


@cache
def view_names() -> tuple[str, ...]:
    """Every view, by name."""
    files_ = (entry.name for entry in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".sql") for name in files_ if name.endswith(".sql")))


@cache
def _text(name: str) -> str:
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


@cache
def view_sql(name: str) -> str:
    """The query behind a view, without its opening comment."""
    lines = _text(name).splitlines()
    return "\n".join(line for line in lines if not line.startswith("--"))


@cache
def is_computed_once(name: str) -> bool:
    """Whether the view is computed when it is defined, for all that stand on it."""
    return "\n-- computed once\n" in _text(name)


@cache
def declared_key(name: str) -> Key | None:
    """The key within which a view says that it is complete; None if it says nothing."""
    found = _WITHIN.search(_text(name))
    return Key(found[1]) if found else None


def tables_of(judge: Judge) -> set[str]:
    """The tables and views that a judge reads, also to tell what it found."""
    evidence = {judge.evidence} if isinstance(judge, Holds) and judge.evidence else set()
    return {*judge.tables, *evidence}


def key_of(judge: Judge) -> Key:
    """The key within which a judge is complete: its own, and that of every view it stands on."""
    key = judge.within
    for view in views_needed(tables_of(judge)):
        key = key.joined(declared_key(view) or Key.PARTITION)
    return key


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
