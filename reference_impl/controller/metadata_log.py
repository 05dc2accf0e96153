"""The metadata log: what the controller decided, in the order in which it did, on its disk.

One change is one record batch, written and synced as a whole before anybody hears of it; a batch
that is torn by a crash was never told to anyone and is cut off by the recovery of the log. After a
write that failed nobody knows what the end of the log looks like on the disk: before anything else
the log is opened anew and cut back to what was told.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from reference_impl.kafka.batches import batches
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import build_batch, records
from reference_impl.log.config import LogConfig
from reference_impl.log.log import Log
from reference_impl.metadata.records import (
    CONTROLLER_EPOCH,
    MetadataRecord,
    RecordError,
    from_bytes,
    to_bytes,
)
from reference_impl.ports.clock import Clock
from reference_impl.ports.disk import Disk

DIRECTORY = "__cluster_metadata-0"
LEADER_EPOCH = CONTROLLER_EPOCH
_READ_BYTES = 1 << 20

_CONFIG = LogConfig(
    retention_ms=-1,
    retention_bytes=-1,
    max_message_bytes=(1 << 31) - 1,
    segment_ms=(1 << 63) - 1,
)


class MetadataLog:
    """A log of metadata records that only grows. ``end_offset`` is that of the next record."""

    def __init__(self, disk: Disk, clock: Clock, log: Log) -> None:
        self.end_offset = log.log_end_offset
        self._disk = disk
        self._clock = clock
        self._log: Log | None = log
        self._opening = asyncio.Lock()

    @classmethod
    async def open(cls, disk: Disk, clock: Clock) -> MetadataLog:
        """The log on that disk, recovered from whatever happened to it."""
        return cls(disk, clock, await _open(disk, clock))

    async def replay(self) -> AsyncIterator[MetadataRecord]:
        """Every record from the beginning."""
        offset = 0
        while offset < self.end_offset:
            data = await self.read(offset, max_bytes=_READ_BYTES)
            for at, batch in batches(data):
                for record in records(data, at):
                    if record.value is None:
                        raise RecordError(f"the metadata record at {record.offset} is null")
                    yield from_bytes(record.value)
                offset = batch.next_offset

    async def append(self, changes: Sequence[MetadataRecord]) -> None:
        """Make one atomic change durable, or raise KAFKA_STORAGE_ERROR and change nothing."""
        now_ms = self._clock.now_ms()
        batch = build_batch([(now_ms, None, to_bytes(change)) for change in changes])
        log = await self._sound()
        try:
            await log.append_as_leader(batch, leader_epoch=LEADER_EPOCH)
            await log.flush()
        except (OSError, KafkaError) as error:
            self._log = None
            raise KafkaError(ErrorCode.kafka_storage_error, str(error)) from error
        self.end_offset = log.log_end_offset

    async def _sound(self) -> Log:
        """The log, opened anew after a failure, without what was never told to anyone."""
        async with self._opening:
            if self._log is None:
                try:
                    log = await _open(self._disk, self._clock)
                    await log.truncate_to(self.end_offset)
                except OSError as error:
                    raise KafkaError(ErrorCode.kafka_storage_error, str(error)) from error
                self._log = log
            return self._log

    async def read(self, offset: int, *, max_bytes: int) -> bytes:
        """Whole batches from that offset on; at least one if there is any."""
        log = await self._sound()
        data = await log.read(offset, max_bytes=max_bytes, upto=self.end_offset, at_least_one=True)
        return bytes(data)

    async def close(self) -> None:
        """Let go of the files."""
        if self._log is not None:
            await self._log.close(clean=True)


async def _open(disk: Disk, clock: Clock) -> Log:
    return await Log.open(disk, DIRECTORY, config=_CONFIG, clock=clock, clean=False)
