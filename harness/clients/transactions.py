"""Requests of transactional producers and of who looks at them, as histories record them.

Each is one raw request by kio, in the version that its client would use: one of transaction version
1 says which partitions it writes to, one of version 2 (KIP-890) has its epoch bumped by every end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.clients.answers import UnreadableAnswer, named
from harness.clients.batches import CONTROL, HEADER, TRANSACTIONAL, encode_batch
from harness.clients.messages import build, request_schema, response_schema
from harness.clients.operations import TopicPartition, batch_size, records_in
from harness.clients.raw import RawClient
from harness.history import classify
from harness.history.outcome import Outcome

TRANSACTION, GROUP = 1, 0
TIMEOUT_S = 2.0
ADD_PARTITIONS, ADD_OFFSETS = "add_partitions_to_txn", "add_offsets_to_txn"
PRODUCE = {1: 11, 2: 12}
END = {1: 4, 2: 5}
COMMIT_OFFSETS = {1: 4, 2: 5}
COMMIT_ALONE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a transactional producer says it is, and which transaction version it speaks."""

    transactional_id: str  # on the wire
    producer_id: int = -1
    epoch: int = -1
    version: int = 2


async def _ask(client: RawClient, api: str, version: int, fields: Mapping[str, Any]) -> Any:
    request = build(request_schema(api, version), fields)
    return await client.ask(request, timeout_s=TIMEOUT_S, schema=response_schema(api, version))


def _outcome(f: str, error: int, fields: Mapping[str, Any]) -> Outcome:
    if not error:
        return Outcome("ok", {"error": 0, **fields})
    return Outcome(classify(f, int(error)), {"error": int(error)})


async def find_coordinator(client: RawClient, key: str, kind: int = TRANSACTION) -> int | None:
    """The broker that coordinates an id or a group; None if none does yet."""
    asked = {"key_type": kind, "coordinator_keys": [key]}
    answer = await _ask(client, "find_coordinator", 4, asked)
    one = named(answer.coordinators, "key", key)
    return None if one.error_code else int(one.node_id)


async def init_producer(client: RawClient, who: Identity, *, timeout_ms: int) -> Outcome:
    """A producer begins, or begins anew where it says who it was."""
    fields = {
        "transactional_id": who.transactional_id,
        "transaction_timeout": timeout_ms,
        "producer_id": who.producer_id,
        "producer_epoch": who.epoch,
    }
    answer = await _ask(client, "init_producer_id", 5, fields)
    given = {"given_id": int(answer.producer_id), "given_epoch": int(answer.producer_epoch)}
    return _outcome("init_producer_id", answer.error_code, given)


async def add_partitions(
    client: RawClient, who: Identity, partitions: Iterable[TopicPartition]
) -> Outcome:
    """Partitions join a transaction: all of them or none."""
    topics: dict[str, list[int]] = {}
    for one in partitions:
        topics.setdefault(one.topic, []).append(one.partition)
    fields = {
        "v3_and_below_transactional_id": who.transactional_id,
        "v3_and_below_producer_id": who.producer_id,
        "v3_and_below_producer_epoch": who.epoch,
        "v3_and_below_topics": [
            {"name": topic, "partitions": numbers} for topic, numbers in topics.items()
        ],
    }
    answer = await _ask(client, ADD_PARTITIONS, 3, fields)
    told = [
        int(each.partition_error_code)
        for topic in answer.results_by_topic_v3_and_below
        for each in topic.results_by_partition
    ]
    if len(told) != sum(map(len, topics.values())):
        raise UnreadableAnswer(f"it is about {len(told)} partitions")
    return _outcome(ADD_PARTITIONS, next((one for one in told if one), 0), {})


async def add_offsets(client: RawClient, who: Identity, group: str) -> Outcome:
    """The offsets of a group join a transaction."""
    fields = {**_producer(who), "group_id": group}
    answer = await _ask(client, ADD_OFFSETS, 3, fields)
    return _outcome(ADD_OFFSETS, answer.error_code, {})


async def commit_offset(
    client: RawClient, who: Identity, group: str, tp: TopicPartition, offset: int
) -> Outcome:
    """An offset of a group, which counts if the transaction is committed."""
    fields = {**_producer(who), **_committed(group, tp, offset), "generation_id": -1}
    answer = await _ask(client, "txn_offset_commit", COMMIT_OFFSETS[who.version], fields)
    return _of_place("txn_offset_commit", answer, tp)


async def commit_alone(client: RawClient, group: str, tp: TopicPartition, offset: int) -> Outcome:
    """An offset of a group outside of transactions, which counts at once."""
    fields = {
        **_committed(group, tp, offset),
        "generation_id_or_member_epoch": -1,
        "member_id": "",
    }
    answer = await _ask(client, "offset_commit", COMMIT_ALONE, fields)
    return _of_place("offset_commit", answer, tp)


def _committed(group: str, tp: TopicPartition, offset: int) -> dict[str, Any]:
    partition = {
        "partition_index": tp.partition,
        "committed_offset": offset,
        "committed_leader_epoch": -1,
        "committed_metadata": "",
    }
    return {"group_id": group, "topics": [{"name": tp.topic, "partitions": [partition]}]}


def _of_place(f: str, answer: Any, tp: TopicPartition) -> Outcome:
    topic = named(answer.topics, "name", tp.topic)
    one = named(topic.partitions, "partition_index", tp.partition)
    return _outcome(f, one.error_code, {})


async def fetch_offset(client: RawClient, group: str, tp: TopicPartition) -> Outcome:
    """The committed offset of a group, once no transaction is open that may change it."""
    topics = [{"name": tp.topic, "partition_indexes": [tp.partition]}]
    fields = {"groups": [{"group_id": group, "topics": topics}], "require_stable": True}
    answer = await _ask(client, "offset_fetch", 8, fields)
    said = named(answer.groups, "group_id", group)
    if said.error_code:
        return _outcome("offset_fetch", said.error_code, {})
    topic = named(said.topics, "name", tp.topic)
    one = named(topic.partitions, "partition_index", tp.partition)
    return _outcome("offset_fetch", one.error_code, {"offset": int(one.committed_offset)})


async def end(client: RawClient, who: Identity, *, commit: bool) -> Outcome:
    """Commit or abort; in version 2 it is told who the producer is from then on."""
    fields = {**_producer(who), "committed": commit}
    answer = await _ask(client, "end_txn", END[who.version], fields)
    given = {}
    if who.version > 1:
        given = {"given_id": int(answer.producer_id), "given_epoch": int(answer.producer_epoch)}
    return _outcome("end_txn", answer.error_code, given)


def _producer(who: Identity) -> dict[str, Any]:
    return {
        "transactional_id": who.transactional_id,
        "producer_id": who.producer_id,
        "producer_epoch": who.epoch,
    }


async def produce(
    client: RawClient,
    who: Identity,
    tp: TopicPartition,
    *,
    records: Sequence[tuple[str, int]],
    sequence: int,
    timeout_ms: int = 1000,
) -> Outcome:
    """Append a batch of a transaction, by all in-sync replicas."""
    patch = {
        "producer_id": who.producer_id,
        "producer_epoch": who.epoch,
        "base_sequence": sequence,
        "attributes": TRANSACTIONAL,
    }
    said = [{"value": value, "timestamp": stamp} for value, stamp in records]
    data = {"index": tp.partition, "records": encode_batch({"records": said, "patch": patch})}
    fields = {
        "transactional_id": who.transactional_id,
        "acks": -1,
        "timeout": timeout_ms,
        "topic_data": [{"name": tp.topic, "partition_data": [data]}],
    }
    answer = await _ask(client, "produce", PRODUCE[who.version], fields)
    topic = named(answer.responses, "name", tp.topic)
    one = named(topic.partition_responses, "index", tp.partition)
    told = {"offset": one.base_offset, "log_start_offset": one.log_start_offset}
    return _outcome("produce", one.error_code, told)


async def fetch(
    client: RawClient,
    tp: TopicPartition,
    *,
    offset: int,
    committed: bool,
    leader_epoch: int = -1,
    max_bytes: int = 1 << 22,
) -> Outcome:
    """Read batches with their headers, markers among them, and which transactions were aborted."""
    partition = {
        "partition": tp.partition,
        "current_leader_epoch": leader_epoch,
        "fetch_offset": offset,
        "partition_max_bytes": max_bytes,
    }
    fields = {
        "replica_id": -1,
        "max_wait": 1,
        "min_bytes": 1,
        "max_bytes": max_bytes,
        "isolation_level": int(committed),
        "session_epoch": -1,
        "topics": [{"topic": tp.topic, "partitions": [partition]}],
    }
    answer = await _ask(client, "fetch", 12, fields)
    if answer.error_code or not answer.responses:
        return _outcome("fetch", answer.error_code or -1, {})
    topic = named(answer.responses, "topic", tp.topic)
    one = named(topic.partitions, "partition_index", tp.partition)
    if one.error_code:
        return _outcome("fetch", one.error_code, {})
    data = bytes(one.records or b"")
    aborted = [
        [int(each.producer_id), int(each.first_offset)] for each in one.aborted_transactions or ()
    ]
    batches = list(batches_in(data))
    told = {
        "bytes": len(data),
        "first_batch_bytes": batch_size(data),
        "high_watermark": one.high_watermark,
        "last_stable_offset": one.last_stable_offset,
        "log_start_offset": one.log_start_offset,
        "records": _shown(data, batches, aborted if committed else (), offset),
        "batches": batches,
        **({"aborted": aborted} if committed else {}),
    }
    return _outcome("fetch", 0, told)


def batches_in(data: bytes) -> Iterable[list[Any]]:
    """Of each whole batch: first and last offset, producer (id, epoch, first sequence), leader
    epoch, whether it is transactional, and of a marker what it says and its coordinator's epoch."""
    at = 0
    while len(data) - at >= HEADER.size:
        base, length, leader, _, _, flags, delta, _, _, *producer, _ = HEADER.unpack_from(data, at)
        if len(data) - at < 12 + length:
            return
        body = data[at + HEADER.size : at + 12 + length]
        marker = _marker(body) if flags & CONTROL else [None, None]
        yield [base, base + delta, *producer, leader, bool(flags & TRANSACTIONAL), *marker]
        at += 12 + length


def _marker(body: bytes) -> list[Any]:
    """What a control record says: its key has a version and a type, its value the epoch."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = body[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7

    try:
        varint()
        at += 1
        varint(), varint()
        size = varint()
        key, at = body[at : at + size], at + size
        size = varint()
        value = body[at : at + size]
        kind = {0: "abort", 1: "commit"}[int.from_bytes(key[2:4], "big")]
        return [kind, int.from_bytes(value[2:6], "big", signed=True)]
    except (IndexError, KeyError):
        raise UnreadableAnswer("a control batch has no marker of a transaction") from None


def _shown(
    data: bytes, batches: Sequence[Sequence[Any]], aborted: Iterable[Sequence[int]], offset: int
) -> list[list[Any]]:
    """What a consumer makes of it: no markers, and of aborted transactions nothing.

    A transaction is aborted from the offset on that the list names, up to its producer's marker.
    """
    starts = sorted(([first, producer] for producer, first in aborted), reverse=True)
    within: dict[int, None] = {}
    hidden: list[tuple[int, int]] = []
    for base, last, producer, _, _, _, transactional, marker, _ in batches:
        while starts and starts[-1][0] <= last:
            within[starts.pop()[1]] = None
        if marker is not None:
            hidden.append((base, last))
            if marker == "abort":
                within.pop(producer, None)
        elif transactional and producer in within:
            hidden.append((base, last))
    seen = records_in(data, offset)
    return [one for one in seen if not any(base <= one[0] <= last for base, last in hidden)]


async def describe_transaction(client: RawClient, transactional_id: str) -> Outcome:
    """What its coordinator knows of an id."""
    asked = {"transactional_ids": [transactional_id]}
    answer = await _ask(client, "describe_transactions", 0, asked)
    one = named(answer.transaction_states, "transactional_id", transactional_id)
    told = {
        "state": one.transaction_state,
        "told_id": int(one.producer_id),
        "told_epoch": int(one.producer_epoch),
        "written": [
            [topic.topic, int(number)] for topic in one.topics for number in topic.partitions
        ],
    }
    return _outcome("describe_transactions", one.error_code, told)


async def list_transactions(client: RawClient) -> Outcome:
    """All transactions that a broker coordinates: id, state and producer id."""
    answer = await _ask(client, "list_transactions", 0, {})
    told = [
        [each.transactional_id, each.transaction_state, int(each.producer_id)]
        for each in answer.transaction_states
    ]
    return _outcome("list_transactions", answer.error_code, {"transactions": told})


async def describe_producers(client: RawClient, tp: TopicPartition) -> Outcome:
    """The producers that a leader remembers: id, epoch, last sequence, coordinator's epoch, and
    where the transaction begins that is open (-1: none)."""
    asked = {"topics": [{"name": tp.topic, "partition_indexes": [tp.partition]}]}
    answer = await _ask(client, "describe_producers", 0, asked)
    topic = named(answer.topics, "name", tp.topic)
    one = named(topic.partitions, "partition_index", tp.partition)
    told = [
        [
            int(each.producer_id),
            int(each.producer_epoch),
            int(each.last_sequence),
            int(each.coordinator_epoch),
            int(each.current_txn_start_offset),
        ]
        for each in one.active_producers
    ]
    return _outcome("describe_producers", one.error_code, {"producers": told})
