"""Recorded sequences with one thing changed: what lies next to what was thought of.

A sequence written by hand says what it is about, and little else. Here each of its requests is sent
in every other version, with every field of its schema at its bounds, with lists empty, absent,
repeated and turned round, and twice in a row. The schema says which fields there are and what each
may hold, so no request is left out because it was forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, replace
from dataclasses import fields as schema_fields
from typing import Any

from kio.serial._introspect import (
    EntityField,
    EntityTupleField,
    PrimitiveTupleField,
    classify_field,
)

from harness.clients.messages import NO_UUID, known_versions, request_schema
from harness.differential.sequence import RequestSequence, Step

BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint8": 8, "uint16": 16, "uint32": 32}
OWN_NAMES = ("", "$topic:other", "$topic:t", "$topic:g")
"""Of transactions and groups, which no two plays may share."""
OWN_FIELDS = re.compile("transactional_id|group_id|^key$|coordinator_keys")
NAMES = ("", "nowhere", "a b", "$topic:a", "__cluster_metadata", "__consumer_offsets")
UUIDS = (NO_UUID, NO_UUID[:-1] + "1", "12345678-1234-1234-1234-123456789012", "$topic_id:a")
TIMES_MS = (-2, -1, 0, 1)
HEADER_VALUES: Mapping[str, tuple[int, ...]] = {
    "base_offset": (-1, 3, 2**62),
    "partition_leader_epoch": (-2, 0, 5),
    "magic": (-1, 0, 1, 3, 127),
    "attributes": (1, 2, 3, 4, 5, 7, 8, 0x10, 0x20, 0x30, 0x40, 0x80, -1),
    "last_offset_delta": (-1, 0, 1, 2, 2**31 - 1),
    "base_timestamp": (-1, -2, 0, 2**62),
    "max_timestamp": (-1, -2, 0, 2**62),
    "producer_id": (-2, -1, 0, 7, 2**62),
    "producer_epoch": (-2, -1, 0, 1, 32767),
    "base_sequence": (-2, -1, 0, 1, 2**31 - 1),
    "record_count": (-1, 0, 1, 2, 2**31 - 1),
    "batch_length": (0, 48, 49, 50),
}
RECORD_VALUES: tuple[Mapping[str, Any], ...] = (
    {"offset_delta": 7},
    {"timestamp_delta": -9},
    {"timestamp": -1},
    {"timestamp": -5},
    {"header_count": 1},
    {"length": 3},
    {"key": ""},
    {"key": "k"},
    {"value": None},
)
SPARED = {
    ("create_topics", "num_partitions"),
    ("create_partitions", "count"),
    ("unregister_broker", "broker_id"),
    ("fetch", "max_wait"),
    ("fetch", "min_bytes"),
}
"""Fields whose largest value would occupy a cluster, or keep it from answering."""
LARGEST_THERE = 40
READS = ("fetch", "list_offsets", "describe_producers", "offset_for_leader_epoch")
"""What an internal topic holds depends on all that happened before."""
BEFORE_LISTS = "v3_and_below_"

Path = tuple[str | int, ...]
Other = tuple[str, Any]
"""What a change is called, and the value that it makes."""


def variants(sequence: RequestSequence) -> Iterator[RequestSequence]:
    """The sequence with one of its compared requests varied, in every way there is; what that one
    waited for need not come any more."""
    for at, step in enumerate(sequence.steps):
        if not step.compared or step.frame is not None or step.body is not None:
            continue
        for told, varied in _varied(replace(step, until={})):
            steps = (*sequence.steps[:at], *varied, *sequence.steps[at + 1 :])
            yield replace(sequence, about=f"step {at} {step.api}: {told}", steps=steps)


def _varied(step: Step) -> Iterator[tuple[str, tuple[Step, ...]]]:
    yield "asked twice", (step, step)
    for version in known_versions(step.api):
        if version != step.version:
            schema = request_schema(step.api, version)
            fields = fitted(schema, step.fields)
            yield f"version {version}", (replace(step, version=version, fields=fields),)
    if step.version not in known_versions(step.api):
        return
    schema = request_schema(step.api, step.version)
    for path, told, value in _changes(step.api, schema, step.fields, ()):
        changed = replace(step, fields=_with(step.fields, path, value))
        yield f"{'.'.join(map(str, path))} {told}", (changed,)


def fitted(schema: type[Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """What another version can say of it; a topic by name or by id, as that one wants it."""
    said = _reshaped({one.name for one in schema_fields(schema)}, said)
    found: dict[str, Any] = {}
    for one in schema_fields(schema):
        kind = classify_field(one)
        value = said.get(one.name)
        if one.name == "topic_id" and value is None:
            name = str(said.get("name", said.get("topic", "")))
            value = name.replace("$topic:", "$topic_id:") if name.startswith("$") else None
        if one.name in ("name", "topic") and value is None and "topic_id" in said:
            value = str(said["topic_id"]).replace("$topic_id:", "$topic:")
        if value is None and one.name not in said:
            continue
        if value is not None and isinstance(kind, EntityTupleField):
            value = [fitted(kind.type_, entry) for entry in value]
        elif value is not None and isinstance(kind, EntityField):
            value = fitted(kind.type_, value)
        found[one.name] = value
    return found


def _reshaped(names: set[str], said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Some requests speak of one in older versions, and of a list of them in newer ones."""
    match said:
        case {"key": key, **more} if "coordinator_keys" in names:
            return {**more, "coordinator_keys": [key]}
        case {"coordinator_keys": [key, *_], **more} if "key" in names:
            return {**more, "key": key}
        case {"groups": [one, *_], **more} if "group_id" in names:
            return {**more, **one}
        case {"group_id": _, **_more} if "groups" in names:
            return {**said, "groups": [said]}
        case {"transactions": [one, *_]} if f"{BEFORE_LISTS}producer_id" in names:
            return {f"{BEFORE_LISTS}{name}": value for name, value in one.items()}
        case {"v3_and_below_producer_id": _} if "transactions" in names:
            return {"transactions": [{k.removeprefix(BEFORE_LISTS): v for k, v in said.items()}]}
    return said


def _changes(
    api: str, schema: type[Any], said: Mapping[str, Any], path: Path
) -> Iterator[tuple[Path, str, Any]]:
    """Every field of this structure with every other value, and so on inward."""
    for one in schema_fields(schema):
        here = (*path, one.name)
        value = said.get(one.name)
        for told, other in _others(api, one, value):
            yield here, told, other
        kind = classify_field(one)
        if isinstance(kind, EntityTupleField):
            for at, entry in enumerate(value or ()):
                yield from _changes(api, kind.type_, entry, (*here, at))
        elif isinstance(kind, EntityField) and value is not None:
            yield from _changes(api, kind.type_, value, here)
        elif isinstance(kind, PrimitiveTupleField):
            for at, _ in enumerate(value or ()):
                for other in _values(api, one):
                    yield (*here, at), f"= {other}", other


def _others(api: str, field: Field[Any], value: Any) -> Iterator[Other]:
    """The values that a field may have instead."""
    kind = classify_field(field)
    kafka_type = field.metadata.get("kafka_type", "")
    if value is not None and "None" in str(field.type):
        yield "= null", None
    if isinstance(kind, EntityTupleField | PrimitiveTupleField):
        yield from _lists(value)
    elif kafka_type == "records":
        yield from _records(value)
    else:
        for other in _values(api, field, spared=(api, field.name) in SPARED):
            if other != value:
                yield f"= {other}", other


def _lists(value: Any) -> Iterator[Other]:
    if value or value is None:
        yield "empty", []
    if value:
        yield "doubled", [*value, value[0]]
    if value and len(value) > 1:
        yield "reversed", list(reversed(value))


def _values(api: str, field: Field[Any], *, spared: bool = False) -> tuple[Any, ...]:
    kafka_type = field.metadata.get("kafka_type", "")
    if kafka_type == "bool":
        return (False, True)
    if kafka_type == "string":
        if OWN_FIELDS.search(field.name):
            return OWN_NAMES
        return NAMES[:-1] if api in READS else NAMES
    if kafka_type == "uuid":
        return UUIDS
    if kafka_type.startswith("timedelta"):
        return TIMES_MS
    bits = BITS.get(kafka_type, 0)
    if not bits:
        return ()
    largest = LARGEST_THERE if spared else 2 ** (bits - 1) - 1
    return (-(2 ** (bits - 1)), -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 99, largest)


def _records(value: Any) -> Iterator[Other]:
    """Batches with one field of their header changed, or put together otherwise."""
    yield "empty", []
    if not isinstance(value, list) or not value:
        return
    yield "doubled", [*value, value[0]]
    first = value[0]
    if not isinstance(first, Mapping) or "raw" in first:
        return
    for told, batch in _batches(first):
        yield told, [batch, *value[1:]]


def _batches(batch: Mapping[str, Any]) -> Iterator[Other]:
    for name, numbers in HEADER_VALUES.items():
        for number in numbers:
            yield f"{name} = {number}", {**batch, "patch": {**batch.get("patch", {}), name: number}}
    for compression in ("gzip", "snappy", "lz4", "zstd"):
        yield compression, {**batch, "compression": compression}
    for wrong in ({"cut": 1}, {"cut": 30}, {"append": "00"}, {"body": ""}, {"body": "00"}):
        yield str(wrong), {**batch, **wrong}
    records = batch.get("records") or [{}]
    for other in RECORD_VALUES:
        yield str(other), {**batch, "records": [*records[:-1], {**records[-1], **other}]}


def _with(said: Any, path: Path, value: Any) -> Any:
    """The same data with another value at a path."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(first, int):
        return [_with(one, rest, value) if at == first else one for at, one in enumerate(said)]
    return {**said, first: _with(said.get(first), rest, value)}
