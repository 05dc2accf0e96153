"""Operations on partitions as histories record them, each one raw request.

An answer becomes an ``Outcome``: ok with what it said, fail where the error proves that nothing
happened, unknown otherwise (``harness.history.classify``).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from gzip import BadGzipFile
from typing import Any

from aiokafka.errors import KafkaError  # type: ignore[import-untyped]
from aiokafka.record.default_records import (  # type: ignore[import-untyped]
    DefaultRecordBatch,
    DefaultRecordBatchBuilder,
)
from cramjam import DecompressionError
from kio.schema.api_versions.v0 import request as api_versions_v0
from kio.schema.delete_records.v2 import request as delete_records_v2
from kio.schema.fetch.v12 import request as fetch_v12
from kio.schema.list_offsets.v8 import request as list_offsets_v8
from kio.schema.offset_for_leader_epoch.v4 import request as epoch_v4
from kio.schema.produce.v11 import request as produce_v11
from kio.schema.produce.v12 import request as produce_v12
from kio.static.primitive import i8, i16, i32, i32Timedelta, i64

from harness.clients.answers import NOT_READABLE, UnreadableAnswer, named
from harness.clients.raw import RawClient
from harness.history import classify
from harness.history.outcome import Outcome

CONSUMER = i32(-1)
NO_PRODUCER = (-1, -1, -1)
_GZIP = 1
_BATCH_HEADER = 61
_MAGIC_AT = 16
_TRANSACTIONAL, _CONTROL = 0x10, 0x20
_NO_RECORDS = (*NOT_READABLE, KafkaError, DecompressionError, BadGzipFile, EOFError, zlib.error)


@dataclass(frozen=True, slots=True)
class TopicPartition:
    """A partition."""

    topic: str
    partition: int


class Defect(StrEnum):
    """What is wrong with a batch that must be refused."""

    NONE = "none"
    TORN = "torn"  # a bit of a value is not what the checksum was made of
    MISNUMBERED = "misnumbered"  # compressed, and its records do not count from 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """The transaction that a batch is part of: the id of its producer, its own name, and which
    transaction version its producer speaks; partitions join by the first batch from 2 on."""

    transactional_id: str
    transaction: str
    version: int = 1


def batch_of(
    records: Sequence[tuple[str, int]],
    producer: Sequence[int] = NO_PRODUCER,
    defect: Defect = Defect.NONE,
    codec: int = 0,
    *,
    transactional: bool = False,
) -> bytes:
    """One batch of (value, timestamp in ms), by an idempotent producer if one is named."""
    producer_id, epoch, sequence = producer
    misnumbered = defect is Defect.MISNUMBERED
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=_GZIP if misnumbered else codec,
        is_transactional=int(transactional),
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        batch_size=1 << 20,
    )
    for number, (value, timestamp) in enumerate(records):
        # The last one has the number that the header implies; the others have their neighbours'.
        offset = number ^ 1 if misnumbered and number ^ 1 < len(records) - 1 else number
        builder.append(offset, timestamp, None, value.encode(), [])
    batch = bytes(builder.build())
    if defect is Defect.TORN:
        # The last byte is the number of headers; the one before it ends the last value.
        return batch[:-2] + bytes([batch[-2] ^ 1]) + batch[-1:]
    return batch


def records_in(
    data: bytes, offset: int, aborted: Iterable[tuple[int, int]] = ()
) -> list[list[Any]]:
    """What a history shows of fetched batches: from that offset on, whole batches only.

    Markers of transactions are no records, nor is what belongs to `aborted` transactions, which are
    given by producer and first offset.
    """
    found: list[list[Any]] = []
    at = 0
    hides = _Aborted(aborted)
    while len(data) - at >= _BATCH_HEADER:
        size = 12 + int.from_bytes(data[at + 8 : at + 12], "big")
        if len(data) - at < size:
            break
        try:
            if not hides.batch(data[at : at + size]):
                found += _records_of(data[at : at + size], offset)
        except _NO_RECORDS as problem:
            said = f"{type(problem).__name__}: {problem}"
            raise UnreadableAnswer(f"byte {at} of its records begins no batch: {said}") from None
        at += size
    return found


class _Aborted:
    """Which batches of an answer are not shown, as they come one after the other."""

    def __init__(self, aborted: Iterable[tuple[int, int]]) -> None:
        self._to_come = sorted(aborted, key=lambda one: one[1])
        self._open: list[int] = []

    def batch(self, batch: bytes) -> bool:
        """Whether it is a marker, which ends a transaction, or belongs to an aborted one."""
        last = int.from_bytes(batch[:8], "big") + int.from_bytes(batch[23:27], "big")
        while self._to_come and self._to_come[0][1] <= last:
            self._open.append(self._to_come.pop(0)[0])
        producer = int.from_bytes(batch[43:51], "big", signed=True)
        if batch[22] & _CONTROL:
            self._open = [one for one in self._open if one != producer]
            return True
        return bool(batch[22] & _TRANSACTIONAL) and producer in self._open


def batch_size(data: bytes) -> int:
    """How many bytes the first batch has, all of them there or not; 0 if there is none."""
    return 12 + int.from_bytes(data[8:12], "big") if len(data) >= 12 else 0


def _records_of(batch: bytes, offset: int) -> Iterator[list[Any]]:
    if len(batch) < _BATCH_HEADER or batch[_MAGIC_AT] != 2:
        raise ValueError(f"{len(batch)} bytes of magic {batch[_MAGIC_AT]}")
    epoch = int.from_bytes(batch[12:16], "big", signed=True)
    for record in DefaultRecordBatch(batch):
        if record.offset >= offset:
            value = (record.value or b"").decode("utf-8", "replace")
            yield [record.offset, value, record.timestamp, epoch]


def _outcome(f: str, error: int, fields: Mapping[str, Any]) -> Outcome:
    if not error:
        return Outcome("ok", {"error": 0, **fields})
    return Outcome(classify(f, int(error)), {"error": int(error)})


async def produce(
    client: RawClient,
    tp: TopicPartition,
    *,
    records: Sequence[tuple[str, int]],
    acks: int,
    producer: Sequence[int] = NO_PRODUCER,
    defect: Defect = Defect.NONE,
    codec: int = 0,
    within: Within | None = None,
    timeout_ms: int = 1000,
    timeout_s: float = 2.0,
) -> Outcome:
    """Append one batch, within a transaction or not; one with a defect must be refused.

    Without acks there is no answer.
    """
    schema: Any = produce_v12 if within is not None and within.version > 1 else produce_v11
    data = schema.PartitionProduceData(
        index=i32(tp.partition),
        records=batch_of(records, producer, defect, codec, transactional=within is not None),
    )
    topic = schema.TopicProduceData(name=tp.topic, partition_data=(data,))
    request = schema.ProduceRequest(
        transactional_id=None if within is None else within.transactional_id,
        acks=i16(acks),
        timeout=i32Timedelta.parse(timedelta(milliseconds=timeout_ms)),
        topic_data=(topic,),
    )
    if acks == 0:
        await client.tell(request, timeout_s=timeout_s)
        # Requests of a connection are carried out in turn: with this answer the append is over.
        await client.ask(api_versions_v0.ApiVersionsRequest(), timeout_s=timeout_s)
        return Outcome("info", {"error": None})
    answer = await client.ask(request, timeout_s=timeout_s)
    topic_said = named(answer.responses, "name", tp.topic)
    one = named(topic_said.partition_responses, "index", tp.partition)
    fields = {"offset": one.base_offset, "log_start_offset": one.log_start_offset}
    return _outcome("produce", one.error_code, fields)


async def fetch(
    client: RawClient,
    tp: TopicPartition,
    *,
    offset: int,
    leader_epoch: int = -1,
    max_wait_ms: int = 100,
    max_bytes: int = 1 << 20,
    committed: bool = False,
    rack: str = "",
    timeout_s: float = 2.0,
) -> Outcome:
    """Read from an offset on, committed transactions only if told, as a reader in a rack."""
    partition = fetch_v12.FetchPartition(
        partition=i32(tp.partition),
        current_leader_epoch=i32(leader_epoch),
        fetch_offset=i64(offset),
        partition_max_bytes=i32(max_bytes),
    )
    request = fetch_v12.FetchRequest(
        replica_id=CONSUMER,  # type: ignore[arg-type]
        max_wait=i32Timedelta.parse(timedelta(milliseconds=max_wait_ms)),
        min_bytes=i32(1),
        max_bytes=i32(max_bytes),
        isolation_level=i8(committed),
        session_epoch=i32(-1),
        topics=(fetch_v12.FetchTopic(topic=tp.topic, partitions=(partition,)),),  # type: ignore[arg-type]
        forgotten_topics_data=(),
        rack_id=rack,
    )
    answer = await client.ask(request, timeout_s=timeout_s)
    if answer.error_code or not answer.responses:
        return _outcome("fetch", answer.error_code or -1, {})
    topic_said = named(answer.responses, "topic", tp.topic)
    one = named(topic_said.partitions, "partition_index", tp.partition)
    return _outcome("fetch", one.error_code, _fetched(one, offset, committed=committed, rack=rack))


def _fetched(said: Any, offset: int, *, committed: bool, rack: str) -> dict[str, Any]:
    data = bytes(said.records or b"")
    elsewhere = {"preferred_read_replica": int(said.preferred_read_replica)} if rack else {}
    return {
        **elsewhere,
        "bytes": len(data),
        "first_batch_bytes": batch_size(data),
        "high_watermark": said.high_watermark,
        "last_stable_offset": said.last_stable_offset,
        "log_start_offset": said.log_start_offset,
        "records": records_in(data, offset, _aborted_in(said) if committed else ()),
    }


def _aborted_in(said: Any) -> list[tuple[int, int]]:
    """The aborted transactions that an answer names: producers and first offsets."""
    return [
        (int(one.producer_id), int(one.first_offset)) for one in said.aborted_transactions or ()
    ]


async def offset_for_leader_epoch(
    client: RawClient, tp: TopicPartition, *, epoch: int, current: int, timeout_s: float = 2.0
) -> Outcome:
    """Where an epoch ends in the leader's log."""
    partition = epoch_v4.OffsetForLeaderPartition(
        partition=i32(tp.partition), current_leader_epoch=i32(current), leader_epoch=i32(epoch)
    )
    topic = epoch_v4.OffsetForLeaderTopic(topic=tp.topic, partitions=(partition,))  # type: ignore[arg-type]
    request = epoch_v4.OffsetForLeaderEpochRequest(replica_id=CONSUMER, topics=(topic,))  # type: ignore[arg-type]
    answer = await client.ask(request, timeout_s=timeout_s)
    topic_said = named(answer.topics, "topic", tp.topic)
    one = named(topic_said.partitions, "partition", tp.partition)
    found = {"offset": one.end_offset, "leader_epoch": one.leader_epoch}
    return _outcome("offset_for_leader_epoch", one.error_code, found)


async def list_offsets(
    client: RawClient,
    tp: TopicPartition,
    *,
    timestamp: int,
    leader_epoch: int = -1,
    timeout_s: float = 2.0,
) -> Outcome:
    """The offset that belongs to a time."""
    partition = list_offsets_v8.ListOffsetsPartition(
        partition_index=i32(tp.partition),
        current_leader_epoch=i32(leader_epoch),
        timestamp=i64(timestamp),
    )
    topic = list_offsets_v8.ListOffsetsTopic(name=tp.topic, partitions=(partition,))  # type: ignore[arg-type]
    request = list_offsets_v8.ListOffsetsRequest(
        replica_id=CONSUMER,  # type: ignore[arg-type]
        isolation_level=i8(0),
        topics=(topic,),
    )
    answer = await client.ask(request, timeout_s=timeout_s)
    topic_said = named(answer.topics, "name", tp.topic)
    one = named(topic_said.partitions, "partition_index", tp.partition)
    found = {
        "offset": one.offset,
        "found_timestamp": one.timestamp,
        "leader_epoch": one.leader_epoch,
    }
    return _outcome("list_offsets", one.error_code, found)


async def delete_records(
    client: RawClient,
    tp: TopicPartition,
    *,
    offset: int,
    timeout_ms: int = 1000,
    timeout_s: float = 2.0,
) -> Outcome:
    """Move the log start up."""
    partition = delete_records_v2.DeleteRecordsPartition(
        partition_index=i32(tp.partition), offset=i64(offset)
    )
    topic = delete_records_v2.DeleteRecordsTopic(name=tp.topic, partitions=(partition,))  # type: ignore[arg-type]
    request = delete_records_v2.DeleteRecordsRequest(
        topics=(topic,), timeout=i32Timedelta.parse(timedelta(milliseconds=timeout_ms))
    )
    answer = await client.ask(request, timeout_s=timeout_s)
    topic_said = named(answer.topics, "name", tp.topic)
    one = named(topic_said.partitions, "partition_index", tp.partition)
    fields = {"log_start_offset": one.low_watermark}
    return _outcome("delete_records", one.error_code, fields)
