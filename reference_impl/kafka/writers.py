"""Writing: functions from values to bytes, put together once per structure and version.

A writer takes a value and the list to which it adds pieces of bytes; whoever sends them joins them
once, so that record batches are copied only there. Fields of fixed size that follow each other are
written by one writer.

A value that a field cannot hold (a number out of range, None where null is not allowed) is a
mistake of whoever built the message, and fails with what Python makes of it: ``struct.error``,
``TypeError`` or ``AttributeError``. Text is another matter, since it may be a client's: bytes that
are no UTF-8 grow when they are read. Text beyond ``LONGEST_TEXT`` is a WireError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final

from reference_impl.kafka.errors import WireError
from reference_impl.kafka.message import Message, default_of
from reference_impl.kafka.readers import item_of
from reference_impl.kafka.schema import FIXED, Field, Struct

Pieces = list[Any]  # of bytes, or of memoryviews of them
Writer = Callable[[Any, Pieces], None]
Step = tuple[Callable[[Any], Any], Writer]
Classes = Mapping[str, type[Message]]

NO_TAGS: Final = b"\0"
LONGEST_TEXT: Final = 0x7FFF  # bytes, in every version, though compact ones could hold more
_SHORT: Final = tuple(bytes((n,)) for n in range(128))
_NULL: Final = {"h": b"\xff\xff", "i": b"\xff\xff\xff\xff"}


def varint(value: int) -> bytes:
    """An unsigned number, in groups of seven bits."""
    if value < 128:
        return _SHORT[value]
    groups = bytearray()
    while value > 127:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def struct_writer(shape: Struct, classes: Classes) -> Writer:
    """Writes a message as this version has it."""
    steps = _steps(shape, classes)

    def write(message: Any, out: Pieces) -> None:
        for get, write_value in steps:
            write_value(get(message), out)

    return write


def _steps(shape: Struct, classes: Classes) -> tuple[Step, ...]:
    steps: list[Step] = []
    run: list[Field] = []
    for field in shape.plain:
        if field.kind in FIXED and not field.array:
            run.append(field)
            continue
        if run:
            steps.append(_run_step(run, ""))
            run = []
        steps.append((attrgetter(field.name), _writer(field, shape.flexible, classes)))
    without_tags = shape.flexible and not shape.tagged
    if run:
        steps.append(_run_step(run, "x" if without_tags else ""))  # a zero byte: no tags
    elif without_tags:
        steps.append((_itself, lambda message, out: out.append(NO_TAGS)))
    if shape.tagged:
        steps.append((_itself, _tags_writer(shape.tagged, classes)))
    return tuple(steps)


def _itself(message: Any) -> Any:
    return message


def _run_step(fields: list[Field], end: str) -> Step:
    pack = struct.Struct(">" + "".join(FIXED[field.kind] for field in fields) + end).pack
    get = attrgetter(*[field.name for field in fields])
    if len(fields) == 1:
        return get, lambda value, out: out.append(pack(value))
    return get, lambda values, out: out.append(pack(*values))


def _tags_writer(fields: tuple[Field, ...], classes: Classes) -> Writer:
    """Only what differs from its default, by tag."""
    names = [field.name for field in fields]
    usual = [default_of(field, classes) for field in fields]
    writers = [(varint(field.tag or 0), _writer(field, True, classes)) for field in fields]
    # Two names at least, or the getter would not give a tuple.
    get, defaults = attrgetter(*names, names[0]), (*usual, usual[0])

    def write(message: Any, out: Pieces) -> None:
        values = get(message)
        if values == defaults:
            out.append(NO_TAGS)
            return
        count = 0
        pieces: Pieces = []
        for value, default, (tag, write_value) in zip(values, usual, writers, strict=False):
            if value != default:
                count += 1
                inside: Pieces = []
                write_value(value, inside)
                pieces += (tag, varint(sum(map(len, inside))), *inside)
        out.append(varint(count))
        out += pieces

    return write


def _writer(field: Field, flexible: bool, classes: Classes) -> Writer:
    """A writer of one field's value."""
    if field.array:
        return _array_writer(field, flexible, classes)
    if field.struct is not None:
        inner = struct_writer(field.struct, classes)
        return _nullable_struct_writer(inner) if field.nullable else inner
    if field.kind in FIXED:
        pack = struct.Struct(">" + FIXED[field.kind]).pack
        return lambda value, out: out.append(pack(value))
    if field.kind == "uuid":
        return lambda value, out: out.append(value.bytes)
    if field.kind == "string":
        return _string_writer(field, flexible)
    return _bytes_writer(field, flexible)


def _nullable_struct_writer(inner: Writer) -> Writer:
    def write(value: Any, out: Pieces) -> None:
        if value is None:
            out.append(b"\xff")
        else:
            out.append(b"\x01")
            inner(value, out)

    return write


def _null(field: Field, flexible: bool, width: str) -> bytes:
    """What stands for null; nothing, where the field cannot be null."""
    if not field.nullable:
        return b""
    return b"\0" if flexible else _NULL[width]


def _refuse(field: Field, null: bytes) -> bytes:
    if not null:
        raise TypeError(f"{field.name} cannot be null in this version")
    return null


def _encoded(field: Field, value: str) -> bytes:
    data = value.encode()
    if len(data) > LONGEST_TEXT:
        raise WireError(f"{field.name} is {len(data)} bytes long")
    return data


def _string_writer(field: Field, flexible: bool) -> Writer:
    null = _null(field, flexible, "h")
    pack = struct.Struct(">h").pack

    def compact(value: str | None, out: Pieces) -> None:
        if value is None:
            out.append(_refuse(field, null))
            return
        data = _encoded(field, value)
        length = len(data) + 1
        out.append((_SHORT[length] if length < 128 else varint(length)) + data)

    def classic(value: str | None, out: Pieces) -> None:
        if value is None:
            out.append(_refuse(field, null))
            return
        data = _encoded(field, value)
        out.append(pack(len(data)) + data)

    return compact if flexible else classic


def _bytes_writer(field: Field, flexible: bool) -> Writer:
    null = _null(field, flexible, "i")
    pack = struct.Struct(">i").pack

    def write(value: bytes | memoryview | None, out: Pieces) -> None:
        if value is None:
            out.append(_refuse(field, null))
        else:
            out.append(varint(len(value) + 1) if flexible else pack(len(value)))
            out.append(value)

    return write


def _array_writer(field: Field, flexible: bool, classes: Classes) -> Writer:
    null = _null(field, flexible, "i")
    pack = struct.Struct(">i").pack

    def begin(items: Any, out: Pieces) -> Any:
        if items is None:
            out.append(_refuse(field, null))
            return ()
        length = len(items)
        if flexible:
            out.append(_SHORT[length + 1] if length < 127 else varint(length + 1))
        else:
            out.append(pack(length))
        return items

    if field.kind in FIXED:
        format_ = FIXED[field.kind]

        def write_numbers(items: Any, out: Pieces) -> None:
            if begin(items, out):
                out.append(struct.pack(f">{len(items)}{format_}", *items))

        return write_numbers
    item = _writer(item_of(field), flexible, classes)

    def write(items: Any, out: Pieces) -> None:
        if not items:
            begin(items, out)
            return
        for value in begin(items, out):
            item(value, out)

    return write
