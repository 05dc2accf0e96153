"""The storage plug-in: keeps segments and their indexes, whole, under the id of the copy.

Copies and deletions may be repeated: a copy replaces what an earlier attempt left, and deleting
what is not there succeeds. A copy that failed, or whose answer was lost, may have left anything; it
is deleted and made again under another id. Positions are inclusive.

    RemoteStorageException                 try again later
    └── RemoteResourceNotFoundException    no such segment, or no such index of it
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from reference_impl.tiered.segments import RemoteLogSegmentMetadata


class RemoteStorageException(Exception):
    """The remote store did not do what was asked; whether it changed anything is not known."""


class RemoteResourceNotFoundException(RemoteStorageException):
    """The store answered that there is no such thing."""


class IndexKind(StrEnum):
    """The indexes that are copied with a segment."""

    OFFSET = "Offset"
    TIMESTAMP = "Timestamp"
    PRODUCER_SNAPSHOT = "ProducerSnapshot"
    TRANSACTION = "Transaction"
    LEADER_EPOCH = "LeaderEpoch"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSegmentData:
    """A finished segment with everything that belongs to it, as its files have it.

    ``leader_epochs`` is a checkpoint of all epochs from the earliest known one up to the end of the
    segment. A segment without transactions may have no transaction index.
    """

    segment: bytes
    offset_index: bytes
    time_index: bytes
    producer_snapshot: bytes
    leader_epochs: bytes
    transaction_index: bytes | None = None

    def indexes(self) -> Mapping[IndexKind, bytes]:
        """Those there are."""
        found = {
            IndexKind.OFFSET: self.offset_index,
            IndexKind.TIMESTAMP: self.time_index,
            IndexKind.PRODUCER_SNAPSHOT: self.producer_snapshot,
            IndexKind.LEADER_EPOCH: self.leader_epochs,
        }
        if self.transaction_index is not None:
            found[IndexKind.TRANSACTION] = self.transaction_index
        return found


class RemoteStorageManager(Protocol):
    """What a broker asks of a remote store. Every call may raise RemoteStorageException."""

    def configure(self, configs: Mapping[str, str]) -> None:
        """Called once, before anything else (C-21)."""
        ...

    async def copy_log_segment_data(
        self, metadata: RemoteLogSegmentMetadata, data: LogSegmentData
    ) -> None:
        """Keep a segment and its indexes; all of it can be read when this returns."""
        ...

    async def fetch_log_segment(
        self, metadata: RemoteLogSegmentMetadata, start: int, end: int | None = None
    ) -> bytes:
        """The bytes from one position to another, both included, or to the segment's end.

        An end beyond the segment is cut; a start beyond it is a RemoteStorageException.
        """
        ...

    async def fetch_index(self, metadata: RemoteLogSegmentMetadata, kind: IndexKind) -> bytes:
        """A whole index; RemoteResourceNotFoundException if the segment has none of that kind."""
        ...

    async def delete_log_segment_data(self, metadata: RemoteLogSegmentMetadata) -> None:
        """Take the segment and all its indexes away."""
        ...

    async def close(self) -> None:
        """Let go of what is held; calling it twice is harmless."""
        ...
