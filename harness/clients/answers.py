"""Answers of a system under test, none of which is believed.

An answer is a size, the correlation id of its request, and a message by the schema of the version
that was asked. A size that no answer has is refused before anything is read; the entries of an
array are read one by one, so that bytes that are not there end it; nothing may follow the message.
What cannot be read is behaviour of the system: the operation ends in it, and a rule judges it.

    OSError
    └── ConnectionError
        └── UnreadableAnswer    what came is not the answer to what was asked
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final, TypeVar

from kio.serial import entity_reader
from kio.serial.errors import SerialError

from reference_impl.kafka.apis import BY_KEY
from reference_impl.kafka.errors import WireError
from reference_impl.kafka.readers import UNREADABLE, skip_tags

UNREADABLE_ANSWER: Final = "UNREADABLE_ANSWER"
"""The error that a history names; Kafka has no code for it."""

MAX_ANSWER_BYTES: Final = 128 * 1024 * 1024  # Kafka takes requests of 100 MiB
NOT_READABLE: Final = (SerialError, ValueError, IndexError, OverflowError, struct.error)
_SIZE: Final = struct.Struct(">i")

Part = TypeVar("Part")


class UnreadableAnswer(ConnectionError):
    """What came is not the answer to what was asked; the message says why in a few words."""


def answer_size(prefix: bytes) -> int:
    """The size that an answer begins with."""
    (size,) = _SIZE.unpack(prefix)
    if not _SIZE.size <= size <= MAX_ANSWER_BYTES:
        raise UnreadableAnswer(f"it announces {size} bytes")
    return int(size)


def read_answer(schema: Any, data: bytes, correlation_id: int) -> Any:
    """The message in an answer to the request with this correlation id."""
    try:
        (answers,) = _SIZE.unpack_from(data)
        if answers != correlation_id:
            raise UnreadableAnswer(f"it answers request {answers}, and {correlation_id} was asked")
        _, body_at = entity_reader(schema.__header_schema__)(data, 0)
        message, size = entity_reader(schema)(data, body_at)
    except NOT_READABLE as problem:
        raise _no_message(schema, data, problem) from None
    except KeyError as problem:
        # kio knows no tags but its own, and others are allowed: the message is read without them.
        return _read_without_other_tags(schema, data, problem)
    if body_at + size != len(data):
        behind = len(data) - body_at - size
        raise UnreadableAnswer(f"{behind} bytes follow the {_named(schema)}")
    return message


def named(parts: Iterable[Part] | None, name: str, value: object) -> Part:
    """The part of an answer that is about what was asked."""
    for part in parts or ():
        if getattr(part, name) == value:
            return part
    raise UnreadableAnswer(f"it says nothing about {name} {value}")


def _no_message(schema: Any, data: bytes, problem: Exception) -> UnreadableAnswer:
    said = f"{type(problem).__name__}: {problem}".rstrip(": ")
    return UnreadableAnswer(f"{len(data)} bytes are no {_named(schema)}: {said}")


def _read_without_other_tags(schema: Any, data: bytes, problem: KeyError) -> Any:
    known = _without_other_tags(schema, data)
    if known is None:
        raise _no_message(schema, data, problem) from None
    try:
        return entity_reader(schema)(known, 0)[0]
    except (*NOT_READABLE, KeyError) as further:
        raise _no_message(schema, data, further) from None


def _without_other_tags(schema: Any, data: bytes) -> bytes | None:
    """The message as bytes that have no tags but those of its schema; None if it is none."""
    api, version = BY_KEY.get(int(schema.__api_key__)), int(schema.__version__)
    if api is None or version not in api.versions:
        return None
    try:
        at = _SIZE.size
        if api.responses.header_version(version):
            at = skip_tags(data, at, [])
        message, end = api.responses.read(data, version, at)
        return api.responses.encode(message, version) if end == len(data) else None
    except (WireError, *UNREADABLE):
        return None


def _named(schema: Any) -> str:
    return f"{schema.__name__} of version {schema.__version__}"
