"""Admission: what a leader checks in a batch from a client, and what it makes of it.

In Kafka's order, because the first refusal is the answer: base offset, size, checksum, number of
batches (``admit_bytes``), then the header and the records. All of that needs no turn in the log
(``examine``); records whose unpacking may take long are left to workers. What is written depends on
the time it is written at (``admit``). No more is changed than must be: a batch whose codec the
topic keeps and whose offsets count from 0 keeps its bytes; a maximum timestamp that is not the
records' is set right, with a new checksum; only another codec makes it anew.

Per record Kafka checks structure, key and timestamp; one pass answers whether any of that can be
wrong (``kafka.record_walk``), and only then records are looked at one by one, to say which.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from reference_impl.kafka.batches import (
    HEADER_BYTES,
    MAGIC,
    NO_TIMESTAMP,
    Batch,
    Bytes,
    Compression,
    header,
    intact,
    only_batch,
    short_header,
    slices,
    timestamped,
)
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.record_walk import Walked
from reference_impl.kafka.records import (
    Record,
    Unpacked,
    codec_of,
    look,
    records_of,
    repacked,
    short_unpacked,
    unpacked,
)
from reference_impl.log.config import LogConfig
from reference_impl.log.decisions import admit_checksum, admit_offsets, stamps_append_time
from reference_impl.ports.workers import Workers

_LAST_OFFSET_ENDS = 27  # Kafka reads the header up to here before it checks its size
_ZSTD_SINCE = 7
MOST_RECORD_ERRORS = 10_000
"""Told of one batch; Kafka tells of every record, and a batch can have millions."""
_KEYLESS = "Compacted topic cannot accept message without key in topic partition"


class RecordErrors(KafkaError):
    """A batch is refused for some of its records; ``record_errors`` says which, and why."""

    def __init__(
        self, code: ErrorCode, message: str, record_errors: tuple[tuple[int, str], ...]
    ) -> None:
        super().__init__(code, message)
        self.record_errors = record_errors


class Examined(NamedTuple):
    """A batch that may be written, and the latest timestamp of its records."""

    data: Bytes
    batch: Batch
    max_timestamp: int


class Admitted(NamedTuple):
    """A batch as it goes into the log, but for its offset and epoch."""

    data: Bytes
    batch: Batch
    log_append_time_ms: int


def check_produced(data: Bytes, version: int) -> None:
    """What Kafka refuses in the records of a Produce request before it looks for their log."""
    said = f"Produce requests with version {version}"
    found = slices(data)
    first = next(found, None)
    if first is None:
        raise KafkaError(
            ErrorCode.invalid_record, f"{said} must have at least one record batch per partition"
        )
    if data[16] != MAGIC:
        raise KafkaError(
            ErrorCode.invalid_record,
            f"{said} are only allowed to contain record batches with magic version 2",
        )
    if version < _ZSTD_SINCE and data[22] & 0x07 == Compression.zstd:
        raise KafkaError(
            ErrorCode.unsupported_compression_type,
            f"{said} are not allowed to use ZStandard compression",
        )
    if next(found, None) is not None:
        raise KafkaError(
            ErrorCode.invalid_record,
            f"{said} are only allowed to contain exactly one record batch per partition",
        )


def admit_bytes(data: Bytes, partition: str, config: LogConfig) -> Batch | None:
    """The one batch in ``data``, if it is whole; None where there is none at all."""
    # Nearly always there is one batch and nothing else, and no need to go looking.
    only = only_batch(data)
    if only is not None:
        _check_bytes(data, 0, only, partition, config)
        return only
    count = 0
    for at, size in slices(data):
        if size < _LAST_OFFSET_ENDS:
            raise KafkaError(ErrorCode.unknown_server_error, "the header of the batch is cut off")
        batch = header(data, at) if size >= HEADER_BYTES else short_header(data[at : at + size])
        _check_bytes(data, at, batch, partition, config)
        only, count = batch, count + 1
    if count > 1:
        raise KafkaError(
            ErrorCode.invalid_record, "Compressed outer record has more than one batch"
        )
    return only


def _check_bytes(data: Bytes, at: int, batch: Batch, partition: str, config: LogConfig) -> None:
    if batch.magic != MAGIC:
        raise KafkaError(ErrorCode.invalid_record, f"Batch magic {batch.magic} in {partition}")
    if batch.base_offset != 0:
        raise KafkaError(
            ErrorCode.invalid_record,
            f"The baseOffset of the record batch in the append to {partition} should be 0, but "
            f"it is {batch.base_offset}",
        )
    if batch.size > config.max_message_bytes:
        raise KafkaError(
            ErrorCode.message_too_large,
            f"The record batch size in the append to {partition} is {batch.size} bytes which "
            f"exceeds the maximum configured value of {config.max_message_bytes}).",
        )
    if not admit_checksum(intact(data, at, batch)):
        raise KafkaError(
            ErrorCode.corrupt_message,
            f"Record is corrupt (stored crc = {batch.crc}) in topic partition {partition}.",
        )
    codec_of(batch)  # before anything else that its header says


async def examine(
    data: Bytes, partition: str, config: LogConfig, now_ms: int, workers: Workers
) -> Examined | None:
    """The one batch in ``data`` as it may be written; None where there is none, or the refusal."""
    batch = admit_bytes(data, partition, config)
    if batch is None:
        return None
    if len(data) > batch.size:
        data = memoryview(data)[: batch.size]
    _check_header(batch, partition)
    inside = short_unpacked(data, batch)
    if inside is not None:
        return _examine_records(inside, data, batch, partition, config, now_ms)
    return await workers.run(partial(_examine_packed, data, batch, partition, config, now_ms))


def admit(examined: Examined, config: LogConfig, now_ms: int) -> Admitted:
    """The batch as it is written at this time."""
    data, batch, max_timestamp = examined
    append_time = stamps_append_time(config.log_append_time)
    if append_time:
        max_timestamp = now_ms
    if batch.max_timestamp != max_timestamp or batch.log_append_time != append_time:
        data = timestamped(data, max_timestamp, log_append_time=append_time)
        batch = header(data)
    return Admitted(data, batch, now_ms if append_time else NO_TIMESTAMP)


def _examine_packed(
    data: Bytes, batch: Batch, partition: str, config: LogConfig, now_ms: int
) -> Examined:
    with unpacked(data, batch) as inside:
        return _examine_records(inside, data, batch, partition, config, now_ms)


def _examine_records(
    inside: Unpacked, data: Bytes, batch: Batch, partition: str, config: LogConfig, now_ms: int
) -> Examined:
    target, level = config.target_compression(batch.codec)
    walked = look(inside, batch)
    lowest = highest = batch.max_timestamp
    if not batch.log_append_time:
        lowest = batch.base_timestamp + walked.min_delta
        highest = batch.base_timestamp + walked.max_delta
    _check_records(inside, batch, walked, lowest, highest, partition, config, now_ms)
    compressed = target == batch.codec != Compression.none
    if not admit_offsets(compressed, bool(walked.out_of_place)):
        # Kafka would make the batch anew, but has read too little of its records to do so.
        raise KafkaError(
            ErrorCode.unknown_server_error, "the offsets in a compressed batch do not count from 0"
        )
    if target != batch.codec:
        if lowest < NO_TIMESTAMP:
            # Kafka cannot make a batch anew with such a time, and does not say so.
            raise KafkaError(ErrorCode.unknown_server_error, f"the time {lowest} cannot be")
        data = repacked(inside, batch, Compression(target), level)
        batch = header(data)
        if batch.size > config.max_message_bytes:
            raise KafkaError(
                ErrorCode.message_too_large,
                f"Message batch size is {batch.size} bytes in append to partition {partition} "
                f"which exceeds the maximum configured size of {config.max_message_bytes}.",
            )
    return Examined(data, batch, max(highest, NO_TIMESTAMP))


def _check_header(batch: Batch, partition: str) -> None:
    """What the header alone gives away."""
    problem = None
    if batch.last_offset_delta < 0:
        problem = f"Batch has an invalid offset range: [0, {batch.last_offset_delta}]"
    elif batch.record_count <= 0:
        problem = f"Invalid reported count for record batch: {batch.record_count}"
    elif batch.last_offset_delta + 1 != batch.record_count:
        problem = (
            f"Inconsistent batch offset range [0, {batch.last_offset_delta}] and count of "
            f"records {batch.record_count}"
        )
    elif batch.control:
        problem = "Clients are not allowed to write control records"
    elif batch.has_producer_id and batch.base_sequence < 0:
        problem = (
            f"Invalid sequence number {batch.base_sequence} in record batch with producerId "
            f"{batch.producer_id}"
        )
    if problem is not None:
        raise KafkaError(ErrorCode.invalid_record, f"{problem} in topic partition {partition}")


def _check_records(
    inside: Unpacked,
    batch: Batch,
    walked: Walked,
    lowest: int,
    highest: int,
    partition: str,
    config: LogConfig,
    now_ms: int,
) -> None:
    """Refuse the batch if a record of it is; mostly its extremes show that none can be."""
    if config.log_append_time:
        in_time = not batch.log_append_time
    else:
        in_time = (
            now_ms - lowest <= config.message_timestamp_before_max_ms
            and highest - now_ms <= config.message_timestamp_after_max_ms
            and not (batch.log_append_time and batch.max_timestamp == NO_TIMESTAMP)
        )
    if in_time and not (walked.keyless and config.compact):
        return
    errors: list[tuple[int, str]] = []
    late = False
    for index, record in enumerate(records_of(inside, batch)):
        if len(errors) == MOST_RECORD_ERRORS:
            break
        if config.compact and record.key is None:
            errors.append((index, f"{_KEYLESS} {partition}"))
            continue
        problem = _timestamp_problem(record, batch, config, now_ms)
        if problem is not None:
            late = True
            errors.append((index, problem))
    if errors:
        raise _record_errors(errors, late)


def _timestamp_problem(record: Record, batch: Batch, config: LogConfig, now_ms: int) -> str | None:
    if not config.log_append_time and record.timestamp != NO_TIMESTAMP:
        before, after = (
            config.message_timestamp_before_max_ms,
            config.message_timestamp_after_max_ms,
        )
        if now_ms - record.timestamp > before or record.timestamp - now_ms > after:
            return (
                f"Timestamp {record.timestamp} of message with offset {record.offset} is out of "
                f"range. The timestamp should be within [{_wrapped(now_ms - before)}, "
                f"{_wrapped(now_ms + after)}]"
            )
    elif batch.log_append_time:
        kind = "DefaultRecord" if batch.codec == Compression.none else "PartialDefaultRecord"
        return (
            f"Invalid timestamp type in message {kind}(offset={record.offset}, "
            f"timestamp={record.timestamp}, key={_size(record.key, kind)} bytes, "
            f"value={_size(record.value, kind)} bytes). Producer should not set timestamp type "
            "to LogAppendTime."
        )
    return None


def _record_errors(errors: list[tuple[int, str]], late: bool) -> RecordErrors:
    if late:
        return RecordErrors(
            ErrorCode.invalid_timestamp,
            "One or more records have been rejected due to invalid timestamp",
            tuple(errors),
        )
    shown = ", ".join(
        f"RecordError(batchIndex={index}, message='{text}')" for index, text in errors[:3]
    )
    return RecordErrors(
        ErrorCode.invalid_record,
        f"One or more records have been rejected due to {len(errors)} record errors in total, "
        f"and only showing the first three errors at most: [{shown}]",
        tuple(errors),
    )


def _size(data: bytes | None, kind: str) -> int:
    """How Kafka prints the size of a key or value, which differs between kinds of records."""
    if data is None:
        return 0 if kind == "DefaultRecord" else -1
    return len(data)


def _wrapped(value: int) -> int:
    """As 64 bits hold it: Kafka prints what its arithmetic left of it."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
