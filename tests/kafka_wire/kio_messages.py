"""Any message, twice: as kio builds it and as we do, drawn from kio's own classes.

Values go to the edges of their types. What kio itself cannot hold is left out: a time before 1970,
an error code that it does not know.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import uuid
from typing import Any, get_args

from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.serial import entity_writer

from reference_impl.kafka.codec import Codec
from reference_impl.kafka.message import Message
from reference_impl.kafka.schema import Field, struct_of

ZERO = uuid.UUID(int=0)
EPOCH = datetime.datetime.fromtimestamp(0, datetime.UTC)
INTEGERS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
UNSIGNED = {"uint16": 16, "uint32": 32}


def primitives(kind: str) -> st.SearchStrategy[Any]:
    """Our values of a kind."""
    if kind in INTEGERS:
        return st.integers(-(2 ** INTEGERS[kind]), 2 ** INTEGERS[kind] - 1)
    if kind in UNSIGNED:
        return st.integers(0, 2 ** UNSIGNED[kind] - 1)
    return {
        "bool": st.booleans(),
        "string": st.text(max_size=3) | st.just("é" * 70),
        "bytes": st.binary(max_size=3) | st.just(b"x" * 200),
        "records": st.binary(max_size=3) | st.just(b"x" * 200),
        "uuid": st.just(ZERO) | st.uuids(),
        "float64": st.floats(allow_nan=False, allow_infinity=False),
        "error_code": st.sampled_from([int(code) for code in ErrorCode]),
        "timedelta_i32": st.integers(-(2**31), 2**31 - 1),
        "timedelta_i64": st.integers(-(2**40), 2**40),
        "datetime_i64": st.integers(-1, 2**40),
    }[kind]


def as_kio(kind: str, value: Any) -> Any:
    """One of our values, as kio has it."""
    if value is None:
        return None
    if kind == "uuid":
        return None if value == ZERO else value
    if kind == "error_code":
        return ErrorCode(value)
    if kind.startswith("timedelta"):
        return datetime.timedelta(milliseconds=value)
    if kind == "datetime_i64":
        return None if value == -1 else EPOCH + datetime.timedelta(milliseconds=value)
    return value


@st.composite
def pairs(draw: st.DrawFn, codec: Codec, entity: type[Any]) -> tuple[Any, Message]:
    """The same message of one version as an object of kio and as one of ours."""
    theirs, ours = {}, {}
    members = zip(dataclasses.fields(entity), struct_of(entity).fields, strict=True)
    for member, field in members:
        # A tagged field is left alone in every other message: its absence is a case of its own.
        if field.tag is not None and draw(st.booleans()):
            continue
        theirs[member.name], ours[field.name] = draw(values(codec, member.type, field))
    return _kio_object(entity, theirs), codec.classes[entity.__name__](**ours)


def _kio_object(entity: type[Any], values: dict[str, Any]) -> Any:
    for member in dataclasses.fields(entity):
        if member.name not in values and member.default is dataclasses.MISSING:
            values[member.name] = (
                _kio_object(member.type, {}) if dataclasses.is_dataclass(member.type) else ""
            )
    return entity(**values)


@st.composite
def values(draw: st.DrawFn, codec: Codec, annotation: Any, field: Field) -> tuple[Any, Any]:
    # kio cannot write null into a tagged field: there it is said by leaving the field out.
    if field.nullable and field.tag is None and draw(st.booleans()):
        return None, None
    size = draw(st.integers(0, 2)) if field.array else 1
    if field.struct is None:
        drawable = primitives(field.kind)
        if field.kind == "datetime_i64" and type(None) not in get_args(annotation):
            drawable = drawable.filter(lambda one: one >= 0)
        ours = [draw(drawable) for _ in range(size)]
        theirs = [as_kio(field.kind, value) for value in ours]
    else:
        drawn = [draw(pairs(codec, entity_in(annotation))) for _ in range(size)]
        theirs, ours = [a for a, _ in drawn], [b for _, b in drawn]
    return (tuple(theirs), ours) if field.array else (theirs[0], ours[0])


def entity_in(annotation: Any) -> type[Any]:
    """The class of the structure that a field's annotation is about."""
    while not dataclasses.is_dataclass(annotation):
        annotation = annotation.__args__[0]
    return annotation


def kio_bytes(entity: Any) -> bytes:
    """A message as kio writes it."""
    buffer = io.BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()
