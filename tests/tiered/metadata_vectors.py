"""The published bytes of metadata: one segment of ``orders``-0, in each format."""

from __future__ import annotations

from uuid import UUID

from remote_events import ORDERS

from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.segments import (
    PartitionDeleteState,
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    RemotePartitionDeleteMetadata,
    SegmentState,
)

SEGMENT_ID = RemoteLogSegmentId(ORDERS, UUID("f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff"))
STARTED = RemoteLogSegmentMetadata(
    segment_id=SEGMENT_ID,
    start_offset=6,
    end_offset=8,
    leader_epoch=3,
    max_timestamp_ms=1600000000000,
    event_timestamp_ms=1600000001000,
    segment_leader_epochs=(EpochEntry(2, 5), EpochEntry(3, 7)),
    segment_size_bytes=1048576,
)
FINISHED = RemoteLogSegmentMetadataUpdate(
    segment_id=SEGMENT_ID,
    leader_epoch=3,
    event_timestamp_ms=1600000002000,
    state=SegmentState.COPY_SEGMENT_FINISHED,
)
MARKED = RemotePartitionDeleteMetadata(
    partition=ORDERS,
    epoch=7,
    event_timestamp_ms=1600000003000,
    state=PartitionDeleteState.DELETE_PARTITION_MARKED,
)

VECTOR_2 = bytes.fromhex(
    "000000066f7264657273000102030405060708090a0b0c0d0e0f00000000f0f1"
    "f2f3f4f5f6f7f8f9fafbfcfdfeff000000000000000600000000000000080000"
    "000300000174876e800000000174876e83e80000000200000002000000000000"
    "00050000000300000000000000070010000000"
)
VECTOR_3 = bytes.fromhex(
    "010000066f7264657273000102030405060708090a0b0c0d0e0f00000000f0f1"
    "f2f3f4f5f6f7f8f9fafbfcfdfeff0000000300000174876e87d001"
)
VECTOR_4 = bytes.fromhex(
    "020000066f7264657273000102030405060708090a0b0c0d0e0f000000000000000700000174876e8bb800"
)
VECTOR_5 = bytes.fromhex(
    "0100066f7264657273000102030405060708090a0b0c0d0e0fcc1f570000f0f1"
    "f2f3f4f5f6f7f8f9fafbfcfdfeff000000000000000600000000000000080000"
    "000300000174876e800000000174876e87d00000000200000002000000000000"
    "000500000003000000000000000700100000010f01000000000700000174876e"
    "8bb800"
)
VECTOR_6 = (
    bytes.fromhex(
        "010000076f7264657273000102030405060708090a0b0c0d0e0f0000000000f0"
        "f1f2f3f4f5f6f7f8f9fafbfcfdfeff0000000000000000060000000000000008"
        "0000000100000174876e800000000174876e83e8030000000200000000000000"
        "06000000000300000000000000070000100000000001000101"
    ),
    bytes.fromhex(
        "010100076f7264657273000102030405060708090a0b0c0d0e0f0000000000f0"
        "f1f2f3f4f5f6f7f8f9fafbfcfdfeff000000000100000174876e87d0000100"
    ),
)
