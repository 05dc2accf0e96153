"""Remote segments made by hand: their batches, their indexes and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from reference_impl.kafka.batches import header
from reference_impl.kafka.records import build_batch
from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.remote_indexes import (
    AbortedTransaction,
    RebuiltIndexes,
    encode_aborted,
)
from reference_impl.tiered.segments import (
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    SegmentState,
    TopicIdPartition,
)
from reference_impl.tiered.storage import LogSegmentData

ORDERS = TopicIdPartition(UUID("00010203-0405-0607-0809-0a0b0c0d0e0f"), "orders", 0)


def segment(
    number: int,
    start: int,
    end: int,
    *,
    epochs: Sequence[tuple[int, int]] = ((0, 0),),
    partition: TopicIdPartition = ORDERS,
    size: int = 0,
    max_timestamp_ms: int = 0,
    state: SegmentState = SegmentState.COPY_SEGMENT_FINISHED,
) -> RemoteLogSegmentMetadata:
    """What is known of a segment; ``number`` stands for its id."""
    return RemoteLogSegmentMetadata(
        segment_id=RemoteLogSegmentId(partition, UUID(int=number)),
        start_offset=start,
        end_offset=end,
        leader_epoch=epochs[-1][0],
        max_timestamp_ms=max_timestamp_ms,
        event_timestamp_ms=number,
        segment_leader_epochs=tuple(EpochEntry(*one) for one in epochs),
        segment_size_bytes=size,
        state=state,
    )


def parts(segment: bytes, *, transactions: bytes | None = b"transactions") -> LogSegmentData:
    """A segment whose other parts are their names."""
    return LogSegmentData(
        segment=segment,
        offset_index=b"offsets",
        time_index=b"",
        producer_snapshot=b"producers",
        leader_epochs=b"epochs",
        transaction_index=transactions,
    )


def without_transactions(data: LogSegmentData) -> LogSegmentData:
    """The same without a transaction index."""
    return replace(data, transaction_index=None)


class Copy(NamedTuple):
    """A segment with what is known of it."""

    metadata: RemoteLogSegmentMetadata
    data: LogSegmentData


def batch(
    offset: int, epoch: int, *, timestamp: int | None = None, count: int = 1, **more: Any
) -> bytes:
    """A batch of records whose values say where they belong: `<offset>@<epoch>` (C-20)."""
    first = 1000 + offset if timestamp is None else timestamp
    entries = [
        (first + number, None, f"{offset + number}@{epoch}".encode()) for number in range(count)
    ]
    return build_batch(entries, base_offset=offset, leader_epoch=epoch, **more)


def copy_of(
    number: int,
    written: Sequence[bytes],
    *,
    interval_bytes: int = 0,
    aborted: Sequence[AbortedTransaction] = (),
    partition: TopicIdPartition = ORDERS,
    epochs: Sequence[tuple[int, int]] | None = None,
) -> Copy:
    """A segment of these batches, indexed as a log indexes them."""
    headers = [header(one) for one in written]
    start, end = headers[0].base_offset, headers[-1].last_offset
    rebuilt = RebuiltIndexes(start, end, interval_bytes)
    of_epochs: dict[int, int] = {}
    for one in headers:
        assert rebuilt.add(one)
        of_epochs.setdefault(one.partition_leader_epoch, one.base_offset)
    rebuilt.finish()
    lineage = tuple(of_epochs.items()) if epochs is None else tuple(epochs)
    metadata = segment(
        number,
        start,
        end,
        epochs=lineage,
        partition=partition,
        size=sum(map(len, written)),
        max_timestamp_ms=max(one.max_timestamp for one in headers),
    )
    data = LogSegmentData(
        segment=b"".join(written),
        offset_index=rebuilt.offsets.encoded(0),
        time_index=rebuilt.times.encoded(0),
        producer_snapshot=b"producers",
        leader_epochs=b"epochs",
        transaction_index=encode_aborted(tuple(aborted)) if aborted else None,
    )
    return Copy(metadata, data)
