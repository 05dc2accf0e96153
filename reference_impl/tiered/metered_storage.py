"""The storage plug-in as a broker has it: its reads are counted, and it fails in one way only.

A plug-in may raise anything. Here all of it becomes RemoteStorageException, so that whoever asks
tries again, whatever went wrong; that a call is cancelled is no failure of the plug-in.

Whatever is read for counts: consumers, searches, indexes, followers that build their state.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager

from reference_impl.decisions import decision
from reference_impl.tiered.meters import TieredMeters
from reference_impl.tiered.segments import RemoteLogSegmentMetadata
from reference_impl.tiered.storage import (
    IndexKind,
    LogSegmentData,
    RemoteResourceNotFoundException,
    RemoteStorageException,
    RemoteStorageManager,
)


@decision("remote-bytes-in", rules=("TS-156",))
def remote_bytes_in(data: bytes, kind: IndexKind | None) -> int:
    """What RemoteBytesIn rises by: indexes are read from the store as well as segments (C-38)."""
    return len(data)


@decision("remote-read-error", rules=("TS-156",))
def remote_read_error(error: RemoteStorageException, kind: IndexKind | None) -> bool:
    """Whether a read failed: that a segment has no aborted transactions is an answer (C-40)."""
    missing = isinstance(error, RemoteResourceNotFoundException)
    return not (missing and kind is IndexKind.TRANSACTION)


class MeteredStorage:
    """See the module."""

    def __init__(self, plug_in: RemoteStorageManager, meters: TieredMeters) -> None:
        self._plug_in = plug_in
        self._meters = meters

    def configure(self, configs: Mapping[str, str]) -> None:
        """As the plug-in does it: a broker that cannot configure it does not start."""
        self._plug_in.configure(configs)

    async def copy_log_segment_data(
        self, metadata: RemoteLogSegmentMetadata, data: LogSegmentData
    ) -> None:
        """As the plug-in does it."""
        with _fails_as_remote():
            await self._plug_in.copy_log_segment_data(metadata, data)

    async def fetch_log_segment(
        self, metadata: RemoteLogSegmentMetadata, start: int, end: int | None = None
    ) -> bytes:
        """As the plug-in has it, counted."""
        return await self._read(
            metadata, None, lambda: self._plug_in.fetch_log_segment(metadata, start, end)
        )

    async def fetch_index(self, metadata: RemoteLogSegmentMetadata, kind: IndexKind) -> bytes:
        """As the plug-in has it, counted."""
        return await self._read(metadata, kind, lambda: self._plug_in.fetch_index(metadata, kind))

    async def delete_log_segment_data(self, metadata: RemoteLogSegmentMetadata) -> None:
        """As the plug-in does it."""
        with _fails_as_remote():
            await self._plug_in.delete_log_segment_data(metadata)

    async def close(self) -> None:
        """As the plug-in does it."""
        with _fails_as_remote():
            await self._plug_in.close()

    async def _read(
        self,
        metadata: RemoteLogSegmentMetadata,
        kind: IndexKind | None,
        ask: Callable[[], Awaitable[bytes]],
    ) -> bytes:
        topic = (metadata.partition.topic,)
        self._meters.read_requests.add(topic)
        try:
            with _fails_as_remote():
                data = await ask()
        except RemoteStorageException as error:
            if remote_read_error(error, kind):
                self._meters.read_errors.add(topic)
            raise
        self._meters.bytes_in.add(topic, remote_bytes_in(data, kind))
        return data


@contextmanager
def _fails_as_remote() -> Iterator[None]:
    try:
        yield
    except RemoteStorageException:
        raise
    except Exception as error:  # a plug-in may raise anything
        raise RemoteStorageException(f"{type(error).__name__}: {error}") from error
