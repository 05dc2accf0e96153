"""The records of the metadata log: each is one fact about the cluster that became true.

A record is a frozen dataclass and, on disk and on the wire, one line of JSON with its class as
``type``. ``to_bytes`` and ``from_bytes`` are inverse to each other. In records of change, None
means "as before". What is promised: bytes that are no record, or a record of a kind unknown here,
are a ``RecordError`` that says so; a follower that passed over one would have an image with a hole.

    ValueError
    └── RecordError    bytes of the metadata log that cannot be understood
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, TypeVar, get_type_hints
from uuid import UUID

NO_LEADER = -1
CONTROLLER_EPOCH = 0  # there is one controller, and it never disagrees with itself
LOST_DIRECTORY = UUID(int=2)  # Kafka's reserved id: no replica can be there (KIP-858)


class RecordError(ValueError):
    """Bytes of the metadata log that cannot be understood."""


class ResourceType(IntEnum):
    """What a configuration belongs to, with Kafka's numbers."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRegistered:
    """A broker has come, or come back, with a new epoch."""

    broker_id: int
    broker_epoch: int
    incarnation_id: UUID
    host: str
    port: int
    rack: str | None
    fenced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerChanged:
    """A broker was fenced or unfenced, or has begun to shut down."""

    broker_id: int
    broker_epoch: int
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerUnregistered:
    """A broker is no longer part of the cluster."""

    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCreated:
    """A topic exists; its partitions follow in the same change."""

    name: str
    topic_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDeleted:
    """A topic, its partitions and its configurations are gone.

    With ``remote`` its remote data is not: that is removed once no broker can add to it.
    """

    name: str
    topic_id: UUID
    remote: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteTopicStopped:
    """No broker writes remote data of a deleted topic any more: it may be removed."""

    topic_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionCreated:
    """A partition exists, with its replicas and its first leader."""

    topic_id: UUID
    partition: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChanged:
    """What changed in a partition. Its partition epoch rises by one with every such record."""

    topic_id: UUID
    partition: int
    isr: tuple[int, ...] | None = None
    leader: int | None = None
    leader_epoch: int | None = None
    replicas: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    elr: tuple[int, ...] | None = None
    last_known_elr: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSet:
    """A dynamic configuration was set, or removed where the value is None."""

    resource_type: int
    resource_name: str
    key: str
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdsAllocated:
    """All producer ids below ``next_producer_id`` have been handed out."""

    next_producer_id: int


MetadataRecord = (
    BrokerRegistered
    | BrokerChanged
    | BrokerUnregistered
    | TopicCreated
    | TopicDeleted
    | RemoteTopicStopped
    | PartitionCreated
    | PartitionChanged
    | ConfigSet
    | ProducerIdsAllocated
)

RECORDS: tuple[type[Any], ...] = (
    BrokerRegistered,
    BrokerChanged,
    BrokerUnregistered,
    TopicCreated,
    TopicDeleted,
    RemoteTopicStopped,
    PartitionCreated,
    PartitionChanged,
    ConfigSet,
    ProducerIdsAllocated,
)


def to_bytes(record: MetadataRecord) -> bytes:
    """The record as one line of JSON; fields that are as before are left out."""
    form: dict[str, object] = {"type": type(record).__name__}
    for field in fields(record):
        value = getattr(record, field.name)
        if value != field.default or field.name in _ALWAYS:
            form[field.name] = str(value) if isinstance(value, UUID) else value
    return json.dumps(form, separators=(",", ":")).encode()


# None is a value of these, not "as before".
_ALWAYS = ("value", "rack")


def from_bytes(data: bytes) -> MetadataRecord:
    """The record that those bytes are."""
    try:
        form = json.loads(data)
        kind = form.pop("type")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise RecordError(f"not a metadata record: {data[:80]!r}") from error
    known = _READERS.get(kind)
    if known is None:
        raise RecordError(f"a metadata record of the unknown kind {kind!r}")
    record, readers = known
    try:
        found: MetadataRecord = record(**{name: readers[name](form[name]) for name in form})
        return found
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"a {kind} that cannot be read: {data[:200]!r}") from error


Value = TypeVar("Value")


def _as_it_is(value: Value) -> Value:
    return value


def _numbers(value: list[int] | None) -> tuple[int, ...] | None:
    return None if value is None else tuple(value)


_READER_OF: dict[object, Callable[[Any], Any]] = {
    UUID: UUID,
    tuple[int, ...]: _numbers,
    tuple[int, ...] | None: _numbers,
}


def _readers(record: type[Any]) -> dict[str, Callable[[Any], Any]]:
    hints = get_type_hints(record)
    return {field.name: _READER_OF.get(hints[field.name], _as_it_is) for field in fields(record)}


_READERS = {record.__name__: (record, _readers(record)) for record in RECORDS}
