"""Requests about tiers, each in the version that is asked for, and what a topic's records are."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from aiokafka.record.default_records import DefaultRecordBatch  # type: ignore[import-untyped]
from kio.static.primitive import i8, i32, i64

from harness.clients.answers import named
from harness.clients.messages import build, request_schema
from harness.clients.operations import TopicPartition, batch_size, records_in
from harness.clients.raw import RawClient
from harness.history import classify
from harness.history.outcome import Outcome

BY_EPOCH, BY_TOPIC_ID, BY_REPLICA_STATE, WITH_TIMEOUT = 12, 13, 15, 10
_TOPIC, _SET, _DELETE = 2, 0, 1
_HEADER = 61
MAX_BYTES = 1 << 20


async def fetch_as_follower(
    client: RawClient,
    tp: TopicPartition,
    *,
    topic_id: str,
    version: int,
    replica: int,
    offset: int,
    leader_epoch: int,
    last_fetched_epoch: int = -1,
    timeout_s: float,
) -> Outcome:
    """What a follower would be answered that asks for an offset, or a consumer (replica −1)."""
    partition = {
        "partition": i32(tp.partition),
        "current_leader_epoch": i32(leader_epoch),
        "fetch_offset": i64(offset),
        "last_fetched_epoch": i32(last_fetched_epoch),
        "log_start_offset": i64(-1),
        "partition_max_bytes": i32(MAX_BYTES),
    }
    by_id = version >= BY_TOPIC_ID
    topic = {"topic_id": topic_id} if by_id else {"topic": tp.topic}
    who: dict[str, Any] = {"replica_id": i32(replica)}
    if version >= BY_REPLICA_STATE:
        who = {"replica_state": {"replica_id": i32(replica), "replica_epoch": i64(-1)}}
    asked = {"session_epoch": i32(-1), "min_bytes": i32(1), "max_bytes": i32(MAX_BYTES), **who}
    if version < BY_EPOCH:  # before, the epoch of what was fetched last is not named
        partition.pop("last_fetched_epoch")
    request = build(
        request_schema("fetch", version),
        {**asked, "topics": [{**topic, "partitions": [partition]}]},
    )
    answer = await client.ask(request, timeout_s=timeout_s)
    if answer.error_code or not answer.responses:
        return Outcome("fail", {"error": int(answer.error_code or -1)})
    one = named(answer.responses[0].partitions, "partition_index", tp.partition)
    data = bytes(one.records or b"")
    fields = {
        "error": int(one.error_code),
        "high_watermark": one.high_watermark,
        "log_start_offset": one.log_start_offset,
        "count": len(records_in(data, 0)),
    }
    if version >= BY_EPOCH:
        parted = one.diverging_epoch
        fields["diverging"] = [int(parted.epoch), int(parted.end_offset)]
    return Outcome("fail" if one.error_code else "ok", fields)


async def list_offsets_in(
    client: RawClient,
    tp: TopicPartition,
    *,
    version: int,
    timestamp: int,
    leader_epoch: int,
    timeout_s: float,
) -> Outcome:
    """The offset of a timestamp, by a version of the request."""
    partition: dict[str, Any] = {"partition_index": i32(tp.partition), "timestamp": i64(timestamp)}
    if version >= 4:
        partition["current_leader_epoch"] = i32(leader_epoch)
    asked: dict[str, Any] = {"replica_id": i32(-1)}
    if version >= 2:
        asked["isolation_level"] = i8(0)
    if version >= WITH_TIMEOUT:
        asked["timeout"] = int(1000 * timeout_s)
    topics = [{"name": tp.topic, "partitions": [partition]}]
    request = build(request_schema("list_offsets", version), {**asked, "topics": topics})
    answer = await client.ask(request, timeout_s=timeout_s)
    one = named(named(answer.topics, "name", tp.topic).partitions, "partition_index", tp.partition)
    stamp = one.timestamp
    fields = {
        "error": int(one.error_code),
        "offset": one.offset,
        "found_timestamp": -1 if stamp is None else int(stamp),
        "leader_epoch": getattr(one, "leader_epoch", -1),
    }
    return Outcome("fail" if one.error_code else "ok", fields)


async def fetch_together(
    client: RawClient,
    asked: Sequence[tuple[TopicPartition, int]],
    *,
    max_bytes: int,
    max_wait_ms: int,
    timeout_s: float,
) -> list[Outcome]:
    """Several partitions in one fetch, in this order; an outcome for each."""
    topics = [
        {
            "topic": tp.topic,
            "partitions": [
                {
                    "partition": i32(tp.partition),
                    "current_leader_epoch": i32(-1),
                    "fetch_offset": i64(offset),
                    "partition_max_bytes": i32(max_bytes),
                }
            ],
        }
        for tp, offset in asked
    ]
    said = {
        "replica_id": i32(-1),
        "max_wait": max_wait_ms,
        "min_bytes": i32(1),
        "max_bytes": i32(max_bytes),
        "session_epoch": i32(-1),
        "topics": topics,
    }
    answer = await client.ask(build(request_schema("fetch", 12), said), timeout_s=timeout_s)
    return [_fetched(answer, tp, offset) for tp, offset in asked]


def _fetched(answer: Any, tp: TopicPartition, offset: int) -> Outcome:
    for topic in answer.responses:
        for one in topic.partitions:
            if (topic.topic, one.partition_index) == (tp.topic, tp.partition):
                error, data = int(one.error_code), bytes(one.records or b"")
                if error:
                    return Outcome(classify("fetch", error), {"error": error})
                return Outcome(
                    "ok",
                    {
                        "error": 0,
                        "bytes": len(data),
                        "first_batch_bytes": batch_size(data),
                        "high_watermark": one.high_watermark,
                        "last_stable_offset": one.last_stable_offset,
                        "log_start_offset": one.log_start_offset,
                        "records": records_in(data, offset),
                    },
                )
    return Outcome("fail", {"error": int(answer.error_code or -1)})


async def raw_records(
    client: RawClient, tp: TopicPartition, *, offset: int, timeout_s: float
) -> tuple[list[tuple[int, bytes | None, bytes | None]], int]:
    """Offset, key and value of the records from an offset on, and the high watermark."""
    asked = ((tp, offset),)
    topics = [
        {
            "topic": one.topic,
            "partitions": [
                {
                    "partition": i32(one.partition),
                    "current_leader_epoch": i32(-1),
                    "fetch_offset": i64(at),
                    "partition_max_bytes": i32(MAX_BYTES),
                }
            ],
        }
        for one, at in asked
    ]
    said = {"replica_id": i32(-1), "max_bytes": i32(MAX_BYTES), "session_epoch": i32(-1)}
    request = build(request_schema("fetch", 12), {**said, "topics": topics})
    answer = await client.ask(request, timeout_s=timeout_s)
    if answer.error_code or not answer.responses:
        raise ConnectionError(f"{tp.topic}-{tp.partition} is answered {answer.error_code!r}")
    one = named(answer.responses[0].partitions, "partition_index", tp.partition)
    if one.error_code:
        raise ConnectionError(f"{tp.topic}-{tp.partition} is answered {one.error_code!r}")
    data, found = bytes(one.records or b""), []
    while len(data) >= _HEADER and len(data) >= batch_size(data):
        for record in DefaultRecordBatch(data[: batch_size(data)]):
            if record.offset >= offset:
                found.append((record.offset, record.key, record.value))
        data = data[batch_size(data) :]
    return found, int(one.high_watermark)


async def raw_records_from(
    client: RawClient, tp: TopicPartition, *, start: int = 0, timeout_s: float
) -> AsyncIterator[tuple[int, bytes | None, bytes | None]]:
    """The same of all records that are there, in as many fetches as it takes."""
    at, end = start, start + 1
    while at < end:
        records, end = await raw_records(client, tp, offset=at, timeout_s=timeout_s)
        if not records:
            break
        for one in records:
            yield one
        at = records[-1][0] + 1


async def topic_configs(client: RawClient, name: str, *, timeout_s: float) -> dict[str, str]:
    """What a broker says of all configurations of a topic."""
    resource = {"resource_type": i8(_TOPIC), "resource_name": name, "configuration_keys": None}
    request = build(request_schema("describe_configs", 4), {"resources": [resource]})
    answer = await client.ask(request, timeout_s=timeout_s)
    one = answer.results[0]
    if one.error_code:
        raise ConnectionError(f"describing {name} is answered {one.error_code!r}")
    return {each.name: each.value for each in one.configs if each.value is not None}


async def change_configs(
    client: RawClient,
    name: str,
    configs: Mapping[str, str],
    removed: Sequence[str],
    *,
    timeout_s: float,
) -> Outcome:
    """IncrementalAlterConfigs of a topic: keys are set, others removed."""
    changes = [
        {"name": key, "config_operation": i8(_SET), "value": value}
        for key, value in configs.items()
    ] + [{"name": key, "config_operation": i8(_DELETE), "value": None} for key in removed]
    resource = {"resource_type": i8(_TOPIC), "resource_name": name, "configs": changes}
    request = build(request_schema("incremental_alter_configs", 1), {"resources": [resource]})
    answer = await client.ask(request, timeout_s=timeout_s)
    one = named(answer.responses, "resource_name", name)
    error = int(one.error_code)
    message = {"detail": str(one.error_message)} if one.error_message else {}
    return Outcome("fail" if error else "ok", {"error": error, **message})
