"""Reading: functions from bytes to values, put together once per structure and version.

A reader takes the bytes, where to start, and the list to which it adds what it read; it returns
where it stopped. Fields of fixed size that follow each other are read by one reader.

As lenient as Kafka, which tests compare: bytes that are no UTF-8 become replacement characters, any
negative length is null where null is allowed, tags may come twice and in any order, and the size of
a known one is not looked at.

Nothing is trusted. A length is compared with what is left before anything is made of it, and the
arrays of a message may have ``MOST_ENTRIES`` entries all together, more than any client sends: as
objects they take many times the bytes they came in.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from kio.static.constants import uuid_zero

from reference_impl.kafka.errors import WireError
from reference_impl.kafka.message import Message, default_of, field_names
from reference_impl.kafka.schema import FIXED, STRUCT, Field, Struct

# What is not bytes belongs to its message: records stay where they are in it.
Data = bytes | bytearray | mmap.mmap
Reader = Callable[[Data, int, list[Any]], int]
Classes = Mapping[str, type[Message]]

MOST_ENTRIES: Final = 1_000_000
# Of a request far less: a broker that takes seconds for one is dead to all others meanwhile.
MOST_IN_REQUESTS: Final = 100_000
# What a reader lets through; the outermost caller makes a WireError of it.
UNREADABLE: Final = (struct.error, IndexError)

_entries_left = [MOST_ENTRIES]
_UUID = type(uuid_zero)
_uuid = lru_cache(maxsize=4096)(lambda data: _UUID(bytes=data))


def read_message(
    reader: Reader, data: Data, at: int, most_entries: int = MOST_ENTRIES
) -> tuple[Any, int]:
    """One message and where it ends, or a WireError."""
    _entries_left[0] = most_entries
    values: list[Any] = []
    try:
        end = reader(data, at, values)
    except UNREADABLE as error:
        raise WireError(f"no message: {error}") from None
    return values[0], end


def read_varint(data: Data, at: int) -> tuple[int, int]:
    """An unsigned number of at most 32 bits, in groups of seven; and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 32:
                break
            return value, at
        shift += 7
        if shift > 28:
            break
    raise WireError("a number is too long")


def skip_tags(data: Data, at: int, values: list[Any]) -> int:
    """Tagged fields, none of which is known."""
    if data[at] == 0:
        return at + 1
    return _read_tags(data, at, {})[1]


def _read_tags(
    data: Data, at: int, known: Mapping[int, tuple[int, Reader]]
) -> tuple[dict[int, Any], int]:
    """Tagged fields by their place among those known. Others are skipped."""
    count, at = read_varint(data, at)
    found: dict[int, Any] = {}
    for _ in range(count):
        tag, at = read_varint(data, at)
        size, at = read_varint(data, at)
        if tag in known:
            place, read = known[tag]
            value: list[Any] = []
            at = read(data, at, value)
            found[place] = value[0]
        else:
            at += size
            if at > len(data):
                raise WireError(f"tag {tag} has {size} bytes, more than are left")
    return found, at


def _tags_reader(fields: tuple[Field, ...], classes: Classes) -> Reader:
    """Adds the value of each tagged field, by tag, present or not."""
    known = {field.tag or 0: (n, _reader(field, True, classes)) for n, field in enumerate(fields)}
    usual = [default_of(field, classes) for field in fields]
    shareable = not any(isinstance(value, list) for value in usual)

    def read(data: Data, at: int, values: list[Any]) -> int:
        defaults = usual if shareable else _own(usual)
        if data[at] == 0:
            values += defaults
            return at + 1
        found, at = _read_tags(data, at, known)
        values += [found.get(n, default) for n, default in enumerate(defaults)]
        return at

    return read


def _own(defaults: list[Any]) -> list[Any]:
    """The same, with empty lists that nobody else has."""
    return [[] if isinstance(default, list) else default for default in defaults]


def struct_reader(shape: Struct, classes: Classes) -> Reader:
    """Reads a structure and adds it as one message."""
    cls = classes[shape.name]
    steps = _steps(shape, classes)
    order = [field.name for field in shape.plain + shape.tagged]
    names = field_names(cls)
    if list(names[: len(order)]) == order:  # the constructor knows the defaults of the others

        def read_in_order(data: Data, at: int, into: list[Any]) -> int:
            values: list[Any] = []
            for step in steps:
                at = step(data, at, values)
            into.append(cls(*values))
            return at

        return read_in_order
    unread = [name for name in names if name not in order]
    arranged = itemgetter(*[(order + unread).index(name) for name in names])
    usual = [getattr(cls(), name) for name in unread]
    shareable = not any(isinstance(value, list) for value in usual)

    def read(data: Data, at: int, into: list[Any]) -> int:
        values: list[Any] = []
        for step in steps:
            at = step(data, at, values)
        values += usual if shareable else _own(usual)
        into.append(cls(*arranged(values)))
        return at

    return read


def _steps(shape: Struct, classes: Classes) -> tuple[Reader, ...]:
    steps: list[Reader] = []
    run = ""
    for field in shape.plain:
        if field.kind in FIXED and not field.array:
            run += FIXED[field.kind]
            continue
        if run:
            steps.append(_run_reader(run))
            run = ""
        steps.append(_reader(field, shape.flexible, classes))
    if run:
        steps.append(_run_reader(run))
    if shape.tagged:
        steps.append(_tags_reader(shape.tagged, classes))
    elif shape.flexible:
        steps.append(skip_tags)
    return tuple(steps)


def _run_reader(formats: str) -> Reader:
    run = struct.Struct(">" + formats)
    unpack, size = run.unpack_from, run.size

    def read(data: Data, at: int, values: list[Any]) -> int:
        values += unpack(data, at)
        return at + size

    return read


def _reader(field: Field, flexible: bool, classes: Classes) -> Reader:
    """A reader of one field's value."""
    if field.array:
        return _array_reader(field, flexible, classes)
    if field.struct is not None:
        inner = struct_reader(field.struct, classes)
        return _nullable_struct_reader(inner) if field.nullable else inner
    if field.kind in FIXED:
        return _run_reader(FIXED[field.kind])
    if field.kind == "uuid":
        return _read_uuid
    return (_compact_reader if flexible else _sized_reader)(field)


def _read_uuid(data: Data, at: int, values: list[Any]) -> int:
    end = at + 16
    if end > len(data):
        raise WireError("a UUID is cut off")
    values.append(_uuid(bytes(data[at:end])))
    return end


def _nullable_struct_reader(inner: Reader) -> Reader:
    def read(data: Data, at: int, values: list[Any]) -> int:
        if data[at] & 0x80:  # a negative number
            values.append(None)
            return at + 1
        return inner(data, at + 1, values)

    return read


def _text(data: Data, at: int, end: int) -> str:
    return data[at:end].decode(errors="replace")


def _bytes(data: Data, at: int, end: int) -> bytes:
    return bytes(data[at:end])


def _records(data: Data, at: int, end: int) -> bytes | memoryview:
    return data[at:end] if isinstance(data, bytes) else memoryview(data)[at:end]


_TAKEN: Final[Mapping[str, Callable[[Data, int, int], Any]]] = {
    "string": _text,
    "bytes": _bytes,
    "records": _records,
}


def _compact_reader(field: Field) -> Reader:
    """Text or bytes after their length and one, in groups of seven bits; zero is null."""
    take = _TAKEN[field.kind]

    def read(data: Data, at: int, values: list[Any]) -> int:
        length = data[at]
        at += 1
        if length > 127:
            length, at = read_varint(data, at - 1)
        if length == 0:
            _allow_null(field)
            values.append(None)
            return at
        end = at + length - 1
        if end > len(data):
            raise WireError(f"{length - 1} bytes where {len(data) - at} are left")
        values.append(take(data, at, end))
        return end

    return read


def _allow_null(field: Field) -> None:
    if not field.nullable:
        raise WireError(f"{field.name} is null")


def _sized_reader(field: Field) -> Reader:
    """Text or bytes after their length; a negative one is null."""
    take = _TAKEN[field.kind]
    wide = struct.Struct(">h" if field.kind == "string" else ">i")
    unpack, width = wide.unpack_from, wide.size

    def read(data: Data, at: int, values: list[Any]) -> int:
        (length,) = unpack(data, at)
        at += width
        if length < 0:
            _allow_null(field)
            values.append(None)
            return at
        end: int = at + length
        if end > len(data):
            raise WireError(f"{length} bytes where {len(data) - at} are left")
        values.append(take(data, at, end))
        return end

    return read


def _counter(field: Field, flexible: bool) -> Callable[[Data, int], tuple[int, int]]:
    """Reads how many entries follow, and says where; fewer than none is null."""
    least = smallest(field, flexible)
    unpack = struct.Struct(">i").unpack_from

    def count_at(data: Data, at: int) -> tuple[int, int]:
        if not flexible:
            (count,) = unpack(data, at)
            at += 4
        elif data[at] < 128:
            count = data[at] - 1
            at += 1
        else:
            count, at = read_varint(data, at)
            count -= 1
        if count < 0:
            _allow_null(field)
        elif count * least > len(data) - at:
            raise WireError(f"{count} entries where {len(data) - at} bytes are left")
        elif count > _entries_left[0]:
            raise WireError(f"{count} entries, which are too many")
        else:
            _entries_left[0] -= count
        return count, at

    return count_at


def _array_reader(field: Field, flexible: bool, classes: Classes) -> Reader:
    count_at = _counter(field, flexible)
    if field.kind in FIXED:
        return _numbers_reader(count_at, FIXED[field.kind])
    item = _reader(item_of(field), flexible, classes)

    def read(data: Data, at: int, values: list[Any]) -> int:
        count, at = count_at(data, at)
        items: list[Any] = []
        for _ in range(count):
            at = item(data, at, items)
        values.append(None if count < 0 else items)
        return at

    return read


def _numbers_reader(count_at: Callable[[Data, int], tuple[int, int]], format_: str) -> Reader:
    width = struct.calcsize(">" + format_)

    def read(data: Data, at: int, values: list[Any]) -> int:
        count, at = count_at(data, at)
        if count < 0:
            values.append(None)
            return at
        values.append(list(struct.unpack_from(f">{count}{format_}", data, at)))
        return at + count * width

    return read


def item_of(field: Field) -> Field:
    """An array's entry, as a field of its own."""
    return Field(
        name=field.name,
        kind=field.kind,
        array=False,
        nullable=False,
        tag=None,
        struct=field.struct,
        default=None,
    )


def smallest(field: Field, flexible: bool) -> int:
    """The fewest bytes that one entry of this array takes."""
    return max(1, _least(item_of(field), flexible))


def _least(field: Field, flexible: bool) -> int:
    if field.array:
        return 1 if flexible else 4
    if field.kind == STRUCT:
        assert field.struct is not None
        inside = sum(_least(part, flexible) for part in field.struct.plain)
        return 1 if field.nullable else inside + flexible
    if field.kind in FIXED:
        return struct.calcsize(">" + FIXED[field.kind])
    if field.kind == "uuid":
        return 16
    return 1 if flexible else (2 if field.kind == "string" else 4)
