"""Schemas: what a message looks like in one version, read from kio's generated classes.

kio has one dataclass per structure and version. Here each becomes a plain tree, ``Struct`` and
``Field``, and its values become plain ones: durations and points in time are milliseconds, error
codes are numbers, no topic id is the zero UUID, arrays are lists. A field that holds milliseconds
is named so: kio's ``max_wait`` is ``max_wait_ms``, as in Kafka's own schema.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Final, get_args, get_origin

from kio.static.constants import uuid_zero

STRUCT: Final = "struct"
# Kinds of the same width and order are the same on the wire.
FIXED: Final[Mapping[str, str]] = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint16": "H",
    "uint32": "I",
    "float64": "d",
    "error_code": "h",
    "timedelta_i32": "i",
    "timedelta_i64": "q",
    "datetime_i64": "q",
}
_MILLISECONDS: Final = ("timedelta_i32", "timedelta_i64", "datetime_i64")
_EMPTY: Final[Mapping[str, object]] = {
    "bool": False,
    "float64": 0.0,
    "string": "",
    "bytes": b"",
    "records": b"",
    "uuid": uuid_zero,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a structure in one version.

    ``kind`` is kio's name of a primitive type, or STRUCT; of the items where it is an ``array``.
    ``default`` is a plain value; for arrays None or the empty tuple. A structure that cannot be
    null is by default made of the defaults of its fields, whatever it says here.
    """

    name: str
    kind: str
    array: bool
    nullable: bool
    tag: int | None
    struct: Struct | None
    default: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Struct:
    """A structure in one version. Flexible versions end each structure with tagged fields."""

    name: str
    flexible: bool
    fields: tuple[Field, ...]

    @property
    def plain(self) -> tuple[Field, ...]:
        """The fields that are always written, in the order of the wire."""
        return tuple(field for field in self.fields if field.tag is None)

    @property
    def tagged(self) -> tuple[Field, ...]:
        """The fields that are written where they differ from their default, by tag."""
        with_tag = [field for field in self.fields if field.tag is not None]
        return tuple(sorted(with_tag, key=lambda field: field.tag or 0))


def struct_of(entity: type[Any]) -> Struct:
    """The tree of a class of kio."""
    return Struct(
        name=entity.__name__,
        flexible=entity.__flexible__,
        fields=tuple(_field(field) for field in dataclasses.fields(entity)),
    )


def nested_structs(struct: Struct) -> list[Struct]:
    """The structures inside, those inside of others first."""
    found: list[Struct] = []
    for field in struct.fields:
        if field.struct is not None:
            found += [*nested_structs(field.struct), field.struct]
    return found


def _field(field: dataclasses.Field[Any]) -> Field:
    inner, nullable = _without_none(field.type)
    array = get_origin(inner) is tuple
    if array:
        inner, _ = _without_none(get_args(inner)[0])
    entity = dataclasses.is_dataclass(inner)
    kind = STRUCT if entity else field.metadata["kafka_type"]
    # kio says None for the zero UUID and for the time -1; on the wire neither can be null.
    nullable = nullable and (array or kind not in ("uuid", *_MILLISECONDS))
    return Field(
        name=field.name + ("_ms" if kind in _MILLISECONDS else ""),
        kind=kind,
        array=array,
        nullable=nullable,
        tag=field.metadata.get("tag"),
        struct=struct_of(inner) if entity else None,
        default=_default(field.default, kind, array=array, nullable=nullable),
    )


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) is not UnionType:
        return annotation, False
    (inner,) = (part for part in get_args(annotation) if part is not NoneType)
    return inner, True


def _default(given: Any, kind: str, *, array: bool, nullable: bool) -> object:
    if array:
        return () if given == () or not nullable else None
    if given is dataclasses.MISSING:
        return None if nullable or kind == STRUCT else _EMPTY.get(kind, 0)
    return None if kind == STRUCT else _plain(given, kind)


def _plain(given: Any, kind: str) -> object:
    """A value of kio's as one of ours."""
    if kind == "uuid":
        return uuid_zero if given is None else given
    if kind in _MILLISECONDS:
        if given is None:
            return -1
        return round((given.total_seconds() if "delta" in kind else given.timestamp()) * 1000)
    if kind in FIXED and given is not None:
        return {"bool": bool, "float64": float}.get(kind, int)(given)
    return given
