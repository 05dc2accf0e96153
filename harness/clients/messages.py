"""Kafka messages as plain data: JSON in, JSON out, with kio's schemas in between.

A request is a dict of field names to values. Fields left out take the schema's default, or the
empty value of their type, so that a sequence says only what it is about. Answers become dicts of
everything that was on the wire: durations and times in milliseconds, error codes by name, UUIDs as
text, records as a list of batches.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from kio.index import load_entity_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.serial._introspect import (
    EntityField,
    EntityTupleField,
    PrimitiveTupleField,
    classify_field,
)
from kio.static.constants import EntityType

from harness.clients.batches import decode_batches
from harness.clients.schemas import RESPONSES

API_KEYS = {name: key for key, name in api_key_map.items()}
"""The number of each API, by its name in snake case."""

NO_UUID = str(UUID(int=0))


class BadMessage(ValueError):
    """A sequence asks for a message that its schema does not have."""


def api_name(text: str) -> str:
    """`CreateTopics`, `create-topics` and `create_topics` are one API."""
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).replace("-", "_").lower()
    if snake not in API_KEYS:
        raise BadMessage(f"There is no API named {text!r}.")
    return snake


def known_versions(api: str) -> range:
    """The versions of an API for which there are schemas."""
    versions = schema_name_map[api]
    return range(min(versions), max(versions) + 1)


@cache
def request_schema(api: str, version: int) -> type[Any]:
    return load_entity_schema(api, version, EntityType.request)


@cache
def response_schema(api: str, version: int) -> type[Any]:
    own = RESPONSES.get((api, version))
    return own or load_entity_schema(api, version, EntityType.response)


def build(schema: type[Any], values: Mapping[str, Any]) -> Any:
    """The message of this schema with these values."""
    names = {one.name for one in fields(schema)}
    if unknown := sorted(set(values) - names):
        raise BadMessage(f"{schema.__name__} v{schema.__version__} has no {', '.join(unknown)}.")
    return schema(**{one.name: _field(one, values) for one in fields(schema)})


def _field(field: Field[Any], values: Mapping[str, Any]) -> Any:
    kind = classify_field(field)
    if field.name not in values:
        return default_of(field)
    value = values[field.name]
    if value is None:
        return None
    if isinstance(kind, EntityTupleField):
        return tuple(build(kind.type_, one) for one in value)
    if isinstance(kind, EntityField):
        return build(kind.type_, value)
    if isinstance(kind, PrimitiveTupleField):
        return tuple(_to_kio(field.metadata["kafka_type"], one) for one in value)
    return _to_kio(field.metadata["kafka_type"], value)


def default_of(field: Field[Any]) -> Any:
    """What a field holds that nothing is said about."""
    kind = classify_field(field)
    if field.default is not MISSING:
        return field.default
    if kind.is_array:
        return ()
    if isinstance(kind, EntityField):
        return build(kind.type_, {})
    kafka_type = field.metadata["kafka_type"]
    return _to_kio(kafka_type, _EMPTY.get(kafka_type, 0))


_EMPTY: Mapping[str, Any] = {"string": "", "bytes": b"", "records": b"", "uuid": NO_UUID}


def _to_kio(kafka_type: str, value: Any) -> Any:
    if kafka_type.startswith("timedelta"):
        return timedelta(milliseconds=value)
    if kafka_type == "datetime_i64":
        return None if value == -1 else datetime.fromtimestamp(value / 1000, UTC)
    if kafka_type == "uuid":
        return UUID(value)
    if kafka_type == "string":
        return str(value)  # a broker's id may be the name of a resource
    if kafka_type == "error_code":
        return ErrorCode(value)
    return value


def encode(message: Any) -> bytes:
    """The message on the wire, without its header."""
    buffer = io.BytesIO()
    entity_writer(type(message))(buffer, message)
    return buffer.getvalue()


def decode(schema: type[Any], data: bytes, offset: int) -> tuple[Any, int]:
    """The message at this offset, and the offset after it."""
    message, size = entity_reader(schema)(data, offset)
    return message, offset + size


def plain(message: Any) -> dict[str, Any]:
    """Everything a message says, as JSON."""
    return {one.name: _plain_field(one, getattr(message, one.name)) for one in fields(message)}


def _plain_field(field: Field[Any], value: Any) -> Any:
    kafka_type = field.metadata.get("kafka_type", "")
    if isinstance(value, tuple):
        return [_plain_value(kafka_type, one) for one in value]
    return _plain_value(kafka_type, value)


def _plain_value(kafka_type: str, value: Any) -> Any:
    if is_dataclass(value):
        return plain(value)
    if kafka_type == "records":
        return None if value is None else decode_batches(bytes(value))
    if isinstance(value, ErrorCode):
        return value.name.upper()
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    return _PLAIN.get(kafka_type, lambda same: same)(value)


_PLAIN: Mapping[str, Any] = {
    "datetime_i64": lambda value: -1 if value is None else round(value.timestamp() * 1000),
    "uuid": lambda value: NO_UUID if value is None else str(value),
    "bytes": lambda value: None if value is None else value.hex(),
}
