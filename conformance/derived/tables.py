"""Small ways to make a constant table wrong that a decision reads.

    table_edits(name, table) -> Edit(operator, old, new, table)

Life cycles, error classes and sets of states are tables at the top of a module, and not in the text
of the decision that looks into them. A row of a mapping is a key with its value, or with one of its
values where there are several; of a set or a sequence it is an element.

    row-dropped    a row is left out
    row-moved      its value becomes the next member of its enum, the next number, or in a mapping
                   of other things what the next row has
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, is_dataclass
from enum import Enum
from types import CodeType, FunctionType
from typing import Any

DROPPED, MOVED = "row-dropped", "row-moved"
_CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
_ROWS = (tuple, list, Set)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEdit:
    """One row changed: by which operator, from what to what; the table that comes of it."""

    operator: str
    old: str
    new: str
    table: Any


def tables_of(function: FunctionType) -> dict[str, Any]:
    """The constant tables that a function looks into, by name."""
    there = function.__globals__
    return {
        name: there[name]
        for name in sorted(_names(function.__code__))
        if _CONSTANT.fullmatch(name) and isinstance(there.get(name), (Mapping, *_ROWS))
    }


def _names(code: CodeType) -> set[str]:
    inner = (_names(one) for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*inner)


def table_edits(name: str, table: Any) -> Iterator[TableEdit]:
    """Every edit of a table, row by row."""
    for operator, old, new, made in _of_table(table):
        yield TableEdit(
            operator=operator, old=f"{name}: {old}", new=f"{name}: {new}" if new else "", table=made
        )


_Change = tuple[str, str, str, Any]


def _of_table(table: Any) -> Iterator[_Change]:
    if not isinstance(table, Mapping):
        yield from _of_elements(table)
        return
    rows = list(table.items())
    for (key, value), below in zip(rows, [*rows[1:], None], strict=True):
        if isinstance(value, _ROWS):
            for operator, old, new, made in _of_elements(value):
                told = f"{_told(key)} → {new}" if new else ""
                yield operator, f"{_told(key)} → {old}", told, {**table, key: made}
            continue
        old = f"{_told(key)} → {_told(value)}"
        yield DROPPED, old, "", {one: table[one] for one in table if one != key}
        for moved in _next(value):
            yield MOVED, old, f"{_told(key)} → {_told(moved)}", {**table, key: moved}
        if not _next(value) and below is not None and below[1] != value:
            told = f"{_told(key)} → as {_told(below[0])}"
            yield MOVED, old, told, {**table, key: below[1]}


def _of_elements(table: Any) -> Iterator[_Change]:
    """The elements of a set have no order of their own: that of their text."""
    elements = sorted(table, key=_told) if isinstance(table, Set) else list(table)
    for at, element in enumerate(elements):
        before, after = elements[:at], elements[at + 1 :]
        yield DROPPED, _told(element), "", type(table)([*before, *after])
        for moved in _next(element):
            if moved not in elements:
                yield MOVED, _told(element), _told(moved), type(table)([*before, moved, *after])


def _next(value: object) -> Sequence[object]:
    """What a value becomes that is off by one, where there is such a thing."""
    if isinstance(value, Enum):
        members = list(type(value))
        return [members[(members.index(value) + 1) % len(members)]] if len(members) > 1 else []
    return [value + 1] if type(value) is int else []


def _told(value: object) -> str:
    """In the words of the source, as far as they go; the same in every process."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_told, value))})"
    return type(value).__name__ if is_dataclass(value) else repr(value)
