"""The published schema, and a fast check that is derived from it.

`schema.json` is the truth about every kind of line. A full JSON Schema validation costs some
hundred microseconds a line, too much for histories of millions of lines; so the top level of each
kind (required fields, types, enumerations, lower bounds) is compiled into a small table when this
module loads. What the fast check refuses the schema refuses too. What lies deeper (the elements of
`records`, of `entries`) is looked at where it is turned into rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from .errors import TableDataError
from .lines import Event

FORMAT: Final = 1
EVENT_KINDS: Final = ("op", "effect", "probe", "fault", "phase", "step", "plan", "skip")
SCHEMA_FILE: Final = files(__package__).joinpath("schema.json")

_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}
_ANY: Final = frozenset(t for types in _TYPES.values() for t in types)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """The top level of one kind of line, laid out for few look-ups a line."""

    required: tuple[str, ...]
    required_set: frozenset[str]
    types: Mapping[str, frozenset[type]]
    minimum: tuple[tuple[str, int], ...]
    allowed: tuple[tuple[str, tuple[object, ...]], ...]
    filled: tuple[str, ...]
    wording: Mapping[str, str]


def load_schema() -> dict[str, Any]:
    """The JSON Schema of the format, as data."""
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    if not isinstance(schema, dict) or "$defs" not in schema:
        raise TableDataError(f"{SCHEMA_FILE.name} is not the schema of the history format")
    return schema


def _names(rule: Mapping[str, Any]) -> list[str]:
    named = rule.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def _choice(rule: Mapping[str, Any]) -> tuple[object, ...]:
    return (rule["const"],) if "const" in rule else tuple(rule.get("enum", ()))


def _compile(definition: Mapping[str, Any]) -> _Kind:
    rules: Mapping[str, Mapping[str, Any]] = definition["properties"]
    types: dict[str, frozenset[type]] = {}
    wording: dict[str, str] = {}
    for name, rule in rules.items():
        names, choice = _names(rule), _choice(rule)
        if names or choice:
            found = [t for named in names for t in _TYPES[named]] or map(type, choice)
            types[name] = frozenset(found)
            wording[name] = " or ".join(map(str, choice or names))
    required = tuple(definition["required"])
    return _Kind(
        required=required,
        required_set=frozenset(required),
        types=types,
        minimum=tuple((name, r["minimum"]) for name, r in rules.items() if "minimum" in r),
        allowed=tuple((name, _choice(r)) for name, r in rules.items() if _choice(r)),
        filled=tuple(name for name, r in rules.items() if r.get("minLength")),
        wording=wording,
    )


_KINDS: Final[Mapping[str, _Kind]] = {
    kind: _compile(load_schema()["$defs"][kind])
    for kind in (*EVENT_KINDS, "header", "footer", "shard", "end")
}


def place_fault(event: Event) -> str | None:
    """Why this event cannot be put in its place in time: the part of `line_fault` sealing needs."""
    if type(event.get("time")) is not int:
        return f"time must be integer, not {repr(event.get('time'))[:40]}"
    if type(event.get("clock")) is not str:
        return f"clock must be string, not {repr(event.get('clock'))[:40]}"
    if "index" in event:
        return "index is given by sealing, not by the writer"
    return None


def line_fault(event: Event) -> str | None:
    """Why this object is not a line of its kind, or None if its top level is sound."""
    kind = event.get("kind")
    known = _KINDS.get(kind) if type(kind) is str else None
    if known is None:
        return "there is no kind" if kind is None else f"unknown kind {str(kind)[:40]!r}"
    if not known.required_set <= event.keys():
        missing = [name for name in known.required if name not in event]
        return f"a line of kind {kind} needs {', '.join(missing)}"
    types = known.types
    for name, value in event.items():
        if type(value) not in types.get(name, _ANY):
            return f"{name} must be {known.wording.get(name, 'JSON')}, not {repr(value)[:40]}"
    return _value_fault(event, known)


def _value_fault(event: Event, known: _Kind) -> str | None:
    """The part of the check that looks at values; their types are right by now."""
    for name, allowed in known.allowed:
        if name in event and event[name] not in allowed:
            return f"{name} must be {known.wording[name]}, not {repr(event[name])[:40]}"
    for name, minimum in known.minimum:
        if name in event and (value := event[name]) is not None and value < minimum:
            return f"{name} must be at least {minimum}, not {value}"
    for name in known.filled:
        if not event.get(name, True):
            return f"{name} must not be empty"
    return None
