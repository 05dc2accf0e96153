"""Remote segments made by hand: their batches, their indexes and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from reference_impl.log.decisions import EpochEntry
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
