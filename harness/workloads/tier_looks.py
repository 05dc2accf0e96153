"""What a look from outside finds of tiered storage: metadata topic, remote store, bounds of logs.

Records of the metadata topic are read over the Kafka protocol and decoded by the lab's own code;
objects are what the probe `objects` of the deployment lists. A look is repeated until nothing
changes any more for a while (it is then `resting`), or its bound is over.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from harness.clients.admin import leadership
from harness.clients.operations import TopicPartition
from harness.clients.raw import RawClient
from harness.clients.remote_metadata import KAFKA4, decode_record, kafka_id, metadata_partition
from harness.clients.tier_requests import raw_records_from
from harness.clients.topic_admin import describe_topics
from harness.deployments.deployment import Deployment, Row
from harness.history.tier_tables import ENDS, EPOCHS, METADATA, OBJECTS
from harness.workloads.tier_log import TierLog

METADATA_TOPIC = "__remote_log_metadata"
LOOK_S = 5.0
STARTED = (0, 2)  # states that something is still to follow
_PARTS = {
    "segment.log": "log",
    "offset.index": "offset",
    "time.index": "time",
    "producer.snapshot": "producers",
    "transaction.index": "transactions",
    "leader-epoch.checkpoint": "epochs",
}
_KAFKA_PARTS = {
    "log": "log",
    "index": "offset",
    "timeindex": "time",
    "snapshot": "producers",
    "txnindex": "transactions",
    "leader_epoch_checkpoint": "epochs",
}
_KEY = re.compile(
    r"(?:.*/)?(?P<topic>[0-9a-f-]{36})/(?P<partition>\d+)/\d+-(?P<id>[0-9a-f-]{36})/(.+)"
)
_KAFKA_KEY = re.compile(
    r"(?:.*/)?.+-(?P<partition>\d+)-(?P<topic>[\w-]{22})/\d{20}-(?P<id>[\w-]{22})\.(.+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one look found, as rows without the look's number."""

    events: tuple[Row, ...]
    objects: tuple[Row, ...]

    @property
    def busy(self) -> bool:
        """Whether a segment was begun, or is being deleted, and that is not over."""
        last: dict[object, object] = {}
        for row in self.events:
            if row.get("segment_id"):
                last[row["segment_id"]] = row["state"]
        return any(state in STARTED for state in last.values())


async def look_at_tiers(on: Deployment, form: str) -> Found:
    """The records of the metadata topic, and the objects of the store where these can be seen."""
    listed = await on.probe("objects") if "objects" in on.probes else []
    return Found(
        events=tuple(await _events(on, form)),
        objects=tuple(_object(str(row["key"]), int(str(row["size"])), form) for row in listed),
    )


async def _events(on: Deployment, form: str) -> list[Row]:
    client = RawClient(on.network, on.address(on.brokers[0]))
    try:
        told = await describe_topics(client, [METADATA_TOPIC], timeout_s=LOOK_S)
    finally:
        client.abort()
    partitions = sorted(told[METADATA_TOPIC].partitions) if METADATA_TOPIC in told else []
    rows: list[Row] = []
    for number in partitions:
        rows += await _records(on, TopicPartition(METADATA_TOPIC, number), len(partitions), form)
    return rows


async def _records(on: Deployment, tp: TopicPartition, count: int, form: str) -> list[Row]:
    asked = RawClient(on.network, on.address(on.brokers[0]))
    try:
        seen = await leadership(asked, tp, timeout_s=LOOK_S)
    finally:
        asked.abort()
    if seen.leader not in on.brokers:
        raise ConnectionError(f"{tp.topic}-{tp.partition} has no leader")
    client = RawClient(on.network, on.address(seen.leader))
    try:
        return [
            _event(tp.partition, count, form, *record)
            async for record in raw_records_from(client, tp, timeout_s=LOOK_S)
        ]
    finally:
        client.abort()


def _event(
    partition: int, count: int, form: str, offset: int, key: bytes | None, value: bytes | None
) -> Row:
    found = decode_record(value, form)
    row: Row = {"metadata_partition": partition, "metadata_offset": offset, "keyed": bool(key)}
    if "problem" in found:
        return row | found
    topic_id = UUID(bytes=_bytes_of(found["topic_id"]))
    due = metadata_partition(found["topic"], topic_id, found["partition"], count, form)
    return row | found | {"due_partition": due}


def _bytes_of(kafka: str) -> bytes:
    return urlsafe_b64decode(f"{kafka}==")


def _object(key: str, size: int, form: str) -> Row:
    """An object by its key; one that no segment has keeps its key alone."""
    row: Row = {"object_key": key, "size": size}
    kafka = form == KAFKA4
    fits = (_KAFKA_KEY if kafka else _KEY).fullmatch(key)
    if fits is None:
        return row
    topic, segment = fits["topic"], fits["id"]
    if not kafka:
        topic, segment = kafka_id(UUID(topic)), kafka_id(UUID(segment))
    part = (_KAFKA_PARTS if kafka else _PARTS).get(fits[fits.re.groups])
    named = {"topic_id": topic, "partition": int(fits["partition"]), "segment_id": segment}
    return row | named | {"part": part}


# ── as rows of probes ────────────────────────────────────────────────────────────────────────────


def rows_of(
    found: Found, logs: Iterable[TierLog], *, look: int, resting: bool
) -> Mapping[str, list[Row]]:
    """The rows of a look by probe; topics by the names that the history has for them."""
    known = {log.topic_id: log for log in logs if log.topic_id}
    mark: Row = {"look": look, "resting": resting}

    def named(row: Row) -> Row:
        log = known.get(_kafka_form(str(row.get("topic_id", ""))))
        called = row.get("topic") if log is None else log.topic
        return {**row, "topic": called, "deleted": log is not None and log.deleted, **mark}

    known = {_kafka_form(topic_id): log for topic_id, log in known.items()}
    events = [named(row) for row in found.events]
    return {
        METADATA: [{**row, "epochs": _text(row.get("epochs"))} for row in events],
        EPOCHS: [one for row in events if row.get("epochs") for one in _epoch_rows(row)],
        OBJECTS: [named(row) for row in found.objects],
        ENDS: [],
    }


def _kafka_form(topic_id: str) -> str:
    """An id as Kafka prints it, whichever way it was told."""
    return kafka_id(UUID(topic_id)) if len(topic_id) == 36 else topic_id


def _text(epochs: object) -> str | None:
    return None if epochs is None else str(epochs).replace(" ", "")


def _epoch_rows(row: Row) -> list[Row]:
    """The offsets of each epoch in the segment, cut to the segment (C-15)."""
    epochs: Any = row["epochs"]
    first, last = int(str(row["start_offset"])), int(str(row["end_offset"]))
    ends = [*(offset - 1 for _, offset in epochs[1:]), last]
    kept = ("look", "resting", "topic", "topic_id", "partition", "segment_id")
    return [
        {name: row.get(name) for name in kept}
        | {"epoch": epoch, "first_offset": max(offset, first), "last_offset": end}
        for (epoch, offset), end in zip(epochs, ends, strict=True)
    ]


def bounds_row(log: TierLog, *, look: int, resting: bool) -> Row:
    """What the leader of a log said of its bounds at a look."""
    return {
        "look": look,
        "resting": resting,
        "topic": log.topic,
        "topic_id": log.topic_id,
        "partition": log.partition,
        "log_start": log.log_start,
        "local_start": log.local_start,
        "last_tiered": log.last_tiered,
        "log_end": log.end,
        "last_stable": log.last_stable,
        "tiered": log.tiered,
    }
