"""The store of the region `TIERED`: reads of remote segments, and searches by timestamp.

A read looks its segment up by the epoch that this replica's epoch cache has for the offset, finds
the place by the segment's index, and selects batches (`selecting.py`). It is done by a reader of
the pool. What fails is tried again after a back-off, without a reader, for as long as the request
may wait; then it is given up and answered as TIERED_STORAGE_NOT_AVAILABLE, on the wire
KAFKA_STORAGE_ERROR (C-02). So is, at once, what the pool has no room for (G-18).

Everything is looked up anew at every attempt: a segment that was deleted may have been copied
twice, the log start may have passed the offset, and a segment may be known by now (G-05, C-40).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.decisions import EpochEntry
from reference_impl.log.transactions import AbortedTransaction
from reference_impl.partitions.routing import ReadOutcome
from reference_impl.partitions.searching import MAX_TIMESTAMP, Search, SearchEnd
from reference_impl.partitions.stores import Measured, Range, StoreRead
from reference_impl.ports.log_lines import Lines
from reference_impl.tiered.lineage_walk import LogView, SegmentRange, segment_at, walk
from reference_impl.tiered.reader_pool import PoolFull, ReaderPool
from reference_impl.tiered.remote_indexes import RemoteIndexes
from reference_impl.tiered.segments import RemoteLogSegmentMetadata, TopicIdPartition
from reference_impl.tiered.selecting import (
    Begins,
    Damaged,
    More,
    Selected,
    Wanted,
    aborted_of,
    epoch_at,
    in_transactions,
    remote_read_backoff_ms,
    select,
)
from reference_impl.tiered.storage import RemoteStorageException
from reference_impl.tiered.tier import Tier
from reference_impl.tiered.timestamps import TimestampSearches

if TYPE_CHECKING:
    from reference_impl.partitions.logical import LogicalPartition

Result = TypeVar("Result")

_LEAST_BYTES = 16 << 10
"""So much is fetched at least: a call costs more than a few kilobytes."""


class TieredStore:
    """See the module. What builds auxiliary state for followers reads in the same ``pool``."""

    def __init__(self, tier: Tier, indexes: RemoteIndexes, pool: ReaderPool) -> None:
        self.pool = pool
        self._tier = tier
        self._indexes = indexes
        self._searches = TimestampSearches(tier.storage, indexes, tier.ports.workers)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────

    async def measure(self, wanted: Range) -> Measured | StoreRead:
        """What is read at most, without asking the remote store."""
        if wanted.max_bytes <= 0 and not wanted.at_least_one:
            return StoreRead(ReadOutcome.RECORDS)
        size = max(0, wanted.max_bytes)
        view = self._view(wanted.partition)
        if view is not None:
            try:
                segment = segment_at(view, self._tier.metadata, wanted.offset).segment
                size = min(size, segment.segment_size_bytes)
            except RemoteStorageException:
                pass  # it may be known by the time it is read
        return Measured(wanted, size)

    async def read_many(
        self, ranges: Sequence[Measured], *, timeout_s: float
    ) -> Sequence[StoreRead]:
        """All at the same time, each for itself."""
        return await asyncio.gather(*(self._read(one.range, timeout_s) for one in ranges))

    async def _read(self, wanted: Range, timeout_s: float) -> StoreRead:
        found = await self._by_deadline(
            wanted.partition, lambda: self._read_once(wanted), timeout_s
        )
        return StoreRead(ReadOutcome.LATE) if found is None else found

    async def _read_once(self, wanted: Range) -> StoreRead:
        view = self._view(wanted.partition)
        if view is None or not view.log_start_offset <= wanted.offset < view.local_start_offset:
            return StoreRead(ReadOutcome.GONE)
        if not wanted.fits(epoch_at(view.lineage, wanted.offset)):
            return StoreRead(ReadOutcome.GONE)
        held = segment_at(view, self._tier.metadata, wanted.offset)
        selected, data, upper = await self._selected(held.segment, wanted, view)
        if not isinstance(selected, Selected):
            return StoreRead(ReadOutcome.CORRUPT)
        aborted: tuple[tuple[int, int], ...] = ()
        if wanted.committed and selected.batches:
            aborted = await self._aborted(view, held, wanted.offset, upper, selected)
        return StoreRead(ReadOutcome.RECORDS, data[selected.start : selected.end], aborted)

    async def _selected(
        self, segment: RemoteLogSegmentMetadata, wanted: Range, view: LogView
    ) -> tuple[Selected | Damaged, bytes, int]:
        """The batches to be sent, and an offset behind them, by the index, as a local read has it;
        an index that leads to none of them is rebuilt, once."""
        for anew in (False, True):
            index = await self._indexes.offsets(segment, view.index_interval_bytes, anew=anew)
            entry = index.entry_before(wanted.offset)
            begins = Begins(base_offset=segment.start_offset)
            place = 0
            if entry is not None:
                begins, place = Begins(last_offset=entry[0]), entry[1]
            selected, data = await self._select_from(segment, place, begins, wanted, view)
            if isinstance(selected, Selected) or entry is None:
                break
        if not isinstance(selected, Selected) or not selected.batches:
            return selected, data, wanted.offset
        behind = index.offset_at_or_behind(place + selected.end - selected.start)
        upper = segment.end_offset + 1 if behind is None else behind
        return selected, data, max(upper, selected.batches[-1].next_offset)

    async def _select_from(
        self,
        segment: RemoteLogSegmentMetadata,
        place: int,
        begins: Begins,
        wanted: Range,
        view: LogView,
    ) -> tuple[Selected | Damaged, bytes]:
        """Fetch from a place on, again where the first batch was not whole."""
        count = max(wanted.max_bytes + view.index_interval_bytes, _LEAST_BYTES)
        looked_for = Wanted(
            wanted.offset,
            wanted.upto,
            wanted.max_bytes,
            wanted.at_least_one,
            view.lineage,
            segment.end_offset,
            begins,
        )
        while True:
            data = await self._fetch(segment, place, count)
            selected = select(data, looked_for)
            if not isinstance(selected, More):
                return selected, data
            place += selected.place
            # The object ends before its segment does, or there is no such batch.
            if len(data) < count or selected.size > segment.segment_size_bytes - place:
                return Damaged(selected.place), data
            count = max(selected.size + wanted.max_bytes, _LEAST_BYTES)
            looked_for = looked_for._replace(begins=selected.begins)

    async def _fetch(self, segment: RemoteLogSegmentMetadata, place: int, count: int) -> bytes:
        end = min(place + count, max(segment.segment_size_bytes, place + 1)) - 1
        return await self._tier.storage.fetch_log_segment(segment, place, end)

    async def _aborted(
        self, view: LogView, held: SegmentRange, offset: int, upper: int, selected: Selected
    ) -> tuple[tuple[int, int], ...]:
        """The aborted transactions that reach into the selected batches.

        Each is in the index of the segment with its abort marker, which is the one that was read
        unless a transaction was still open at the end of what was selected. Where no batch is of a
        transaction the store is not asked (KAFKA-16780: most have none).
        """
        told = in_transactions(selected.batches)
        found: list[AbortedTransaction] = []
        remote = walk(view, self._tier.metadata, offset, view.local_start_offset, first=held)
        for one in remote if told.any else ():
            entries = await self._indexes.aborted(one.segment)
            some, complete = aborted_of(entries, offset, upper, one.end)
            found += some
            if complete:
                return _named(found)
            if not told.open:
                break
        # What is open at the end of the remote tier was ended, if it was, in the local log.
        some, _ = aborted_of(view.aborted_locally, offset, upper, view.log_end_offset)
        return _named([*found, *some])

    # ── searching ────────────────────────────────────────────────────────────────────────────────

    async def find_timestamp_many(
        self, wanted: Sequence[tuple[LogicalPartition, Search, int]], *, timeout_s: float
    ) -> Sequence[SearchEnd]:
        """All at the same time, each for itself."""
        return await asyncio.gather(*(self._find(*one, timeout_s) for one in wanted))

    async def _find(
        self, partition: LogicalPartition, search: Search, timestamp: int, timeout_s: float
    ) -> SearchEnd:
        view = self._view(partition)
        if view is not None and self._nothing_there(partition, view, search, timestamp):
            return SearchEnd()

        async def once() -> SearchEnd:
            now = self._view(partition)
            if now is None:
                return SearchEnd(error=ErrorCode.not_leader_or_follower)
            parts = list(walk(now, self._tier.metadata, search.start, search.end))
            if timestamp == MAX_TIMESTAMP:
                return SearchEnd(await self._searches.latest(now, parts))
            return SearchEnd(await self._searches.first(now, parts, timestamp))

        # Like a fetch, which may say that it waits for nothing, it has the time for an attempt.
        least_s = self._tier.settings().fetch_max_wait_ms / 1000
        found = await self._by_deadline(partition, once, max(timeout_s, least_s))
        return SearchEnd(error=ErrorCode.kafka_storage_error) if found is None else found

    def _nothing_there(
        self, partition: LogicalPartition, view: LogView, search: Search, timestamp: int
    ) -> bool:
        """Whether what is known of the segments tells that no record of theirs is the answer."""
        replica = partition.replica
        if replica is None:
            return False
        wanted = timestamp
        if timestamp == MAX_TIMESTAMP:  # the disk has a later one
            local = (one.max_timestamp for one in replica.log.segments)
            wanted = max(local, default=-1)
        try:
            parts = walk(view, self._tier.metadata, search.start, search.end)
            return all(one.segment.max_timestamp_ms < wanted for one in parts)
        except RemoteStorageException:
            return False

    # ── attempts ─────────────────────────────────────────────────────────────────────────────────

    async def _by_deadline(
        self,
        partition: LogicalPartition,
        once: Callable[[], Awaitable[Result]],
        timeout_s: float,
    ) -> Result | None:
        """What an attempt came to; None if there is no room for it, or none succeeded in time."""
        why: list[Exception] = []
        try:
            async with asyncio.timeout(timeout_s):
                return await self._attempts(once, why)
        except (TimeoutError, PoolFull) as error:
            self._tier.ports.log(
                Lines.TIERED_STORAGE_NOT_AVAILABLE,
                partition=f"{partition.topic}-{partition.index}",
                why=why[-1] if why else repr(error),
            )
            return None

    async def _attempts(
        self, once: Callable[[], Awaitable[Result]], why: list[Exception]
    ) -> Result:
        attempt = 0
        while True:
            try:
                async with self.pool.reader():
                    return await once()
            except RemoteStorageException as error:
                why[:] = [error]
            jitter = self._tier.settings().retry_jitter * (2 * self._tier.ports.rng.random() - 1)
            await self._tier.ports.clock.sleep(remote_read_backoff_ms(attempt, jitter) / 1000)
            attempt += 1

    def _view(self, partition: LogicalPartition) -> LogView | None:
        """The log as it is now; None where this broker has no replica of it."""
        if partition.replica is None:
            return None
        log = partition.replica.log
        lineage: tuple[EpochEntry, ...] = log.epochs.entries
        return LogView(
            TopicIdPartition(partition.topic_id, partition.topic, partition.index),
            lineage,
            log.log_start_offset,
            log.local_log_start_offset,
            log.config.index_interval_bytes,
            log.log_end_offset,
            tuple(one for segment in log.segments for one in segment.aborted.entries),
        )


def _named(found: Sequence[AbortedTransaction]) -> tuple[tuple[int, int], ...]:
    return tuple((one.producer_id, one.first_offset) for one in found)
