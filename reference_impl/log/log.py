"""The log of one replica.

Calls that change it take turns; reads do not wait for them. What a call promises when it returns:

    append          the batches can be read, and survive the death of the process
    flush           they survive a loss of power
    truncate, ...   so does the cut

A refusal (``KafkaError``) changes nothing but, as in Kafka, a segment that had to be rolled or an
epoch that had to begin first. A disk that fails takes the log out of service: nobody knows what is
on it then, so everything is KAFKA_STORAGE_ERROR until the log is opened again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Coroutine
from typing import Any, NamedTuple

from reference_impl.kafka.batches import (
    NO_TIMESTAMP,
    Batch,
    Bytes,
    batches,
    header,
    intact,
    placed,
    stamped,
)
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.admission import Examined, admit, examine
from reference_impl.log.config import LogConfig
from reference_impl.log.decisions import (
    Roll,
    admit_checksum,
    bytes_to_read,
    offset_readable,
    segment_must_roll,
)
from reference_impl.log.recovery import load
from reference_impl.log.searches import TimestampOffset, first_at_or_after, latest
from reference_impl.log.segment import Segment
from reference_impl.log.shortening import LogShortening
from reference_impl.log.transactions import (
    AbortedTransaction,
    EndMarker,
    collect_aborted,
    marker_batch,
    read_marker,
)
from reference_impl.log.verification import NO_GUARD
from reference_impl.ports.clock import Clock
from reference_impl.ports.disk import Disk
from reference_impl.ports.workers import InPlace, Workers

__all__ = ["Appended", "Log", "OffsetNotLocal", "TimestampOffset", "UnexpectedAppendOffset"]


class Appended(NamedTuple):
    """What became of an append; offsets are -1 where there was nothing to append."""

    base_offset: int
    last_offset: int
    log_append_time_ms: int
    log_start_offset: int
    duplicate: bool
    bytes: int


class Located(NamedTuple):
    """Where batches are that can be read: a segment, a place in its file, how many bytes."""

    segment: Segment
    place: int
    bytes: int


class UnexpectedAppendOffset(KafkaError):
    """A follower was given batches that begin before the end of its log."""

    def __init__(self, message: str, *, first_offset: int, last_offset: int) -> None:
        super().__init__(ErrorCode.unknown_server_error, message)
        self.first_offset = first_offset
        self.last_offset = last_offset


class OffsetNotLocal(KafkaError):
    """An offset of the log that is not, or not any more, on this disk."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.offset_moved_to_tiered_storage, message)


class Log(LogShortening):
    """See the module. ``high_watermark`` may be set; it stays within the log."""

    workers: Workers = InPlace()

    @classmethod
    async def open(
        cls,
        disk: Disk,
        directory: str,
        *,
        config: LogConfig,
        clock: Clock,
        clean: bool,
        log_start_offset: int = 0,
        recovery_point: int = 0,
        workers: Workers | None = None,
        older_elsewhere: bool = False,
    ) -> Log:
        """The log in a directory, recovered if it was not closed cleanly; else a new one.

        Whose ``older_elsewhere`` is, its log start may lie below its first segment.
        """
        loaded = await load(
            disk,
            directory,
            config=config,
            now_ms=clock.now_ms(),
            clean=clean,
            log_start_offset=log_start_offset,
            recovery_point=recovery_point,
            older_elsewhere=older_elsewhere,
        )
        log = cls(disk, directory, config, clock, loaded)
        log.workers = workers or cls.workers
        await log._load_producers()
        return log

    # Appending.

    async def append_as_leader(self, records: Bytes, *, leader_epoch: int) -> Appended:
        """Check one batch of a client, give it offsets and epoch, and write it."""
        return await self.append_examined(await self.examine(records), leader_epoch=leader_epoch)

    def examine(self, records: Bytes) -> Coroutine[Any, Any, Examined | None]:
        """Check one batch of a client; others may append until it is."""
        now_ms = self._clock.now_ms()
        return examine(records, self.partition, self.config, now_ms, self.workers)

    async def append_examined(
        self,
        examined: Examined | None,
        *,
        leader_epoch: int,
        guard: int = NO_GUARD,
        sequenced: bool = True,
    ) -> Appended:
        """Write a batch that was checked; of its producer see ``ProducerStates.admit``."""
        if examined is None:
            return self._appended(-1, -1, NO_TIMESTAMP, 0)
        config = self.config
        async with self._turn:
            now_ms = self._clock.now_ms()
            admitted = admit(examined, config, now_ms)
            base_offset = self.log_end_offset
            batch = placed(admitted.batch, base_offset, leader_epoch)
            if not self.epochs.knows(leader_epoch, base_offset):
                await self.epochs.assign(leader_epoch, base_offset)
            if batch.size > config.segment_bytes:
                raise KafkaError(
                    ErrorCode.record_list_too_large,
                    f"Message batch size is {batch.size} bytes in append to partition "
                    f"{self.partition}, which exceeds the maximum configured segment size of "
                    f"{config.segment_bytes}.",
                )
            segment = await self._segment_for(batch, now_ms)
            if batch.producer_id >= 0:
                repeated = self.producers.admit(batch, guard=guard, sequenced=sequenced)
                if repeated is not None:
                    first, last = repeated.first_offset, repeated.last_offset
                    return self._appended(first, last, repeated.timestamp, 0, duplicate=True)
            data = stamped(
                admitted.data, 0, batch, base_offset=base_offset, leader_epoch=leader_epoch
            )
            await self._write(segment, data, [batch], now_ms)
        await self._flush_if_many()
        return self._appended(
            base_offset, batch.last_offset, admitted.log_append_time_ms, len(data)
        )

    async def append_marker(
        self,
        producer_id: int,
        producer_epoch: int,
        marker: EndMarker,
        *,
        leader_epoch: int,
        bumps: bool = False,
    ) -> Appended:
        """End a producer's transaction, as its coordinator says."""
        async with self._turn:
            now_ms = self._clock.now_ms()
            data = marker_batch(
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                marker=marker,
                timestamp_ms=now_ms,
                log_append_time=self.config.log_append_time,
            )
            base_offset = self.log_end_offset
            batch = placed(header(data), base_offset, leader_epoch)
            self.producers.admit_marker(batch, marker, bumps=bumps)
            if not self.epochs.knows(leader_epoch, base_offset):
                await self.epochs.assign(leader_epoch, base_offset)
            segment = await self._segment_for(batch, now_ms)
            data = bytes(
                stamped(data, 0, batch, base_offset=base_offset, leader_epoch=leader_epoch)
            )
            await self._write(segment, data, [batch], now_ms)
        await self._flush_if_many()
        return self._appended(base_offset, batch.last_offset, NO_TIMESTAMP, len(data))

    async def append_as_follower(
        self, records: Bytes, *, leader_epoch: int | None = None, upto: int | None = None
    ) -> Appended:
        """Write what a leader has written, as it is.

        Given the epoch in which it was fetched, batches of later ones are left out: they come from
        a leader that has lost its leadership meanwhile. So are those that reach beyond ``upto``.
        """
        found = self._checked(records, leader_epoch, upto)
        if not found:
            return self._appended(-1, -1, NO_TIMESTAMP, 0)
        async with self._turn:
            self._check_continues(found[0][1], found[-1][1])
            now_ms = self._clock.now_ms()
            for _, batch in found:
                if batch.partition_leader_epoch >= 0:
                    await self.epochs.assign(batch.partition_leader_epoch, batch.base_offset)
            for at, end, together in self._parts(found, now_ms):
                segment = await self._segment_for(together[0], now_ms)
                await self._write(segment, memoryview(records)[at:end], together, now_ms)
        await self._flush_if_many()
        size = sum(batch.size for _, batch in found)
        first, last = found[0][1].base_offset, found[-1][1].last_offset
        return self._appended(first, last, NO_TIMESTAMP, size)

    def _checked(
        self, records: Bytes, leader_epoch: int | None, upto: int | None
    ) -> list[tuple[int, Batch]]:
        found: list[tuple[int, Batch]] = []
        for at, batch in batches(records):
            if leader_epoch is not None and batch.partition_leader_epoch > leader_epoch:
                break
            if upto is not None and batch.next_offset > upto:
                break
            if not admit_checksum(intact(records, at, batch)):
                raise KafkaError(
                    ErrorCode.corrupt_message,
                    f"Record is corrupt (stored crc = {batch.crc}) in topic partition "
                    f"{self.partition}.",
                )
            if found and batch.base_offset < found[-1][1].next_offset:
                raise KafkaError(
                    ErrorCode.unknown_server_error,
                    f"Out of order offsets found in append to {self.partition}",
                )
            found.append((at, batch))
        return found

    def _check_continues(self, first: Batch, last: Batch) -> None:
        if first.base_offset < self.log_end_offset:
            raise UnexpectedAppendOffset(
                f"Unexpected offset in append to {self.partition}. First offset "
                f"{first.base_offset} is less than the next offset {self.log_end_offset}.",
                first_offset=first.base_offset,
                last_offset=last.last_offset,
            )

    def _parts(
        self, found: list[tuple[int, Batch]], now_ms: int
    ) -> list[tuple[int, int, list[Batch]]]:
        """All batches in one write if the active segment takes them all, else one by one."""
        listed = [batch for _, batch in found]
        latest_of_all = max(batch.max_timestamp for batch in listed)
        size = sum(batch.size for batch in listed)
        start = found[0][0]
        if not self._must_roll(size, latest_of_all, listed[-1].last_offset, now_ms):
            return [(start, start + size, listed)]
        return [(at, at + batch.size, [batch]) for at, batch in found]

    def _must_roll(self, size: int, max_timestamp: int, last_offset: int, now_ms: int) -> bool:
        active, config = self._segments[-1], self.config
        return segment_must_roll(
            Roll(
                active.size,
                size,
                config.segment_bytes,
                active.waited_ms(now_ms, max_timestamp),
                config.max_segment_ms,
                active.indexes_full(config.segment_index_bytes),
                last_offset - active.base_offset,
            )
        )

    async def _segment_for(self, batch: Batch, now_ms: int) -> Segment:
        """The active segment, or a new one if the batch does not belong into that."""
        if self._must_roll(batch.size, batch.max_timestamp, batch.last_offset, now_ms):
            await self._roll(batch.base_offset, now_ms)
        return self._segments[-1]

    async def _write(
        self, segment: Segment, data: bytes | memoryview, written: list[Batch], now_ms: int
    ) -> None:
        await segment.append(data, written, self.config.index_interval_bytes, now_ms)
        at = 0
        for batch in written:
            marker = read_marker(data, at) if batch.control else None
            aborted = self.producers.add(batch, marker)
            if aborted is not None:
                segment.aborted.add(aborted)
            at += batch.size
        self.log_end_offset = written[-1].next_offset

    def _appended(
        self, base: int, last: int, time_ms: int, size: int, *, duplicate: bool = False
    ) -> Appended:
        return Appended(base, last, time_ms, self.log_start_offset, duplicate, size)

    # Reading.

    async def read(self, offset: int, *, max_bytes: int, upto: int, at_least_one: bool) -> bytes:
        """Batches from the one that holds ``offset``, as ``locate`` finds them.

        Only what is on this disk can be read here: ``OffsetNotLocal`` for the rest of the log.
        """
        if not offset_readable(offset, self.log_start_offset, self.log_end_offset):
            raise KafkaError(
                ErrorCode.offset_out_of_range,
                f"Received request for offset {offset} for partition {self.partition}, but we "
                f"only have offsets from {self.log_start_offset} to {self.log_end_offset}.",
            )
        local = self.local_log_start_offset
        if offset < local:
            raise OffsetNotLocal(f"{self.partition} is on this disk from {local} on, not {offset}")
        if offset >= upto:
            return b""
        found = await self.locate(offset, max_bytes=max_bytes, upto=upto, at_least_one=at_least_one)
        return b"" if found is None else await found.segment.file.read(found.place, found.bytes)

    async def locate(
        self, offset: int, *, max_bytes: int, upto: int, at_least_one: bool
    ) -> Located | None:
        """Batches from the one that holds ``offset``, of one segment, below the offset ``upto``.

        As many bytes as asked for, so that the last batch may be cut; but a first batch that is
        larger comes whole or, unless there must be one, not at all.
        """
        segments = self._segments
        number = max(0, bisect_right(segments, offset, key=lambda each: each.base_offset) - 1)
        while number < len(segments):
            segment = segments[number]
            found = await segment.find(offset)
            if found is not None:
                place, batch = found
                end = await self._end_place(segment, number, upto)
                count = bytes_to_read(batch.size, end - place, max_bytes, at_least_one)
                return Located(segment, place, count) if count > 0 else None
            number += 1
        return None

    async def _end_place(self, segment: Segment, number: int, upto: int) -> int:
        """Where in a segment the reader has to stop: before the batch that holds ``upto``."""
        if upto >= self.log_end_offset:
            return segment.size
        if number + 1 < len(self._segments) and upto >= self._segments[number + 1].base_offset:
            return segment.size
        found = await segment.find(upto)
        return segment.size if found is None else found[0]

    def aborted_among(self, offset: int, read: Located) -> list[AbortedTransaction]:
        """The aborted transactions of which a read from ``offset`` on may have met records.

        How far it got is looked up in the index: rather one too many than one too few.
        """
        segments = self._segments
        if not any(len(one.aborted) for one in segments) or read.segment not in segments:
            return []
        number = segments.index(read.segment)
        upto = read.segment.offsets.offset_at_or_behind(read.place + read.bytes)
        if upto is None:
            last = number + 1 == len(segments)
            upto = self.log_end_offset if last else segments[number + 1].base_offset
        return collect_aborted((one.aborted.entries for one in segments[number:]), offset, upto)

    async def offset_for_timestamp(
        self, timestamp: int, *, start: int = 0, upto: int
    ) -> TimestampOffset | None:
        """The first record from ``start`` on as late as that, if it is below ``upto``."""
        start = max(start, self.log_start_offset)
        found = await first_at_or_after(self._segments, timestamp, start, self.workers)
        return found if found is not None and found.offset < upto else None

    async def offset_of_max_timestamp(self, *, upto: int) -> TimestampOffset | None:
        """The first record with the highest timestamp, if it is below ``upto``."""
        found = await latest(self._segments, self.workers)
        return found if found is not None and found.offset < upto else None
