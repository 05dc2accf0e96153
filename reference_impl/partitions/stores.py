"""Stores: where the records of regions are read, for many partitions at once.

There is one of each kind on a broker. A read has two steps: `measure` says how much there is, so
that a request can deal out its bytes before anything is read; `read_many` reads what was measured.
Neither raises what a store can foresee: how a read ended is part of its answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.log import Located, Log
from reference_impl.partitions.routing import ReadOutcome
from reference_impl.partitions.searching import MAX_TIMESTAMP, Search, SearchEnd
from reference_impl.partitions.views import NO_EPOCH

if TYPE_CHECKING:
    from reference_impl.partitions.logical import LogicalPartition


class Range(NamedTuple):
    """What is to be read of a partition. ``epoch`` is the leader epoch that its first record was
    planned to have, −1 where any will do: in another lineage the answer would be of another log
    than the one that was compared with the reader's, so that is routed again. Who reads
    ``committed`` records is told which of their transactions were aborted."""

    partition: LogicalPartition
    offset: int
    upto: int
    max_bytes: int
    at_least_one: bool
    epoch: int = -1
    committed: bool = False

    def fits(self, epoch: int | None) -> bool:
        """Whether the record at the offset may be of the epoch that was expected."""
        return self.epoch == NO_EPOCH or epoch in (None, NO_EPOCH, self.epoch)


class Measured(NamedTuple):
    """A range, how many bytes of it will be read at most, and what the store noted about it."""

    range: Range
    bytes: int
    where: object = None


class StoreRead(NamedTuple):
    """How reading a range ended; ``aborted`` are producer ids and first offsets of transactions."""

    outcome: ReadOutcome
    records: bytes = b""
    aborted: tuple[tuple[int, int], ...] = ()


class Store(Protocol):
    """What reads the regions of one kind."""

    async def measure(self, wanted: Range) -> Measured | StoreRead:
        """How much there is to read; or how the read ended, if that is known already."""
        ...

    async def read_many(
        self, ranges: Sequence[Measured], *, timeout_s: float
    ) -> Sequence[StoreRead]:
        """Read what was measured, within a time limit."""
        ...

    async def find_timestamp_many(
        self, wanted: Sequence[tuple[LogicalPartition, Search, int]], *, timeout_s: float
    ) -> Sequence[SearchEnd]:
        """The first record at or after a timestamp within the bounds of each search."""
        ...


class LocalStore:
    """The logs of this broker's replicas."""

    async def measure(self, wanted: Range) -> Measured | StoreRead:
        """Find the segment, and the place in it."""
        log = _log(wanted.partition)
        if wanted.offset < log.local_log_start_offset:
            return StoreRead(ReadOutcome.GONE)
        try:
            found = await log.locate(
                wanted.offset,
                max_bytes=wanted.max_bytes,
                upto=wanted.upto,
                at_least_one=wanted.at_least_one,
            )
        except (OSError, ValueError):
            if wanted.offset < log.local_log_start_offset:  # removed while it was looked for
                return StoreRead(ReadOutcome.GONE)
            raise
        left = wanted.offset < log.local_log_start_offset  # since it was looked for
        if left and (found is None or found.segment.base_offset > wanted.offset):
            return StoreRead(ReadOutcome.GONE)
        if found is None:
            return StoreRead(ReadOutcome.RECORDS)
        return Measured(wanted, found.bytes, found)

    async def read_many(
        self, ranges: Sequence[Measured], *, timeout_s: float
    ) -> Sequence[StoreRead]:
        """One after the other: a disk is quick, and time is not measured here."""
        reads = []
        for one in ranges:
            found = one.where
            assert isinstance(found, Located)
            log, offset = _log(one.range.partition), one.range.offset
            try:
                data = await found.segment.file.read(found.place, found.bytes)
            except (OSError, ValueError):
                if not found.segment.removed:
                    raise
                reads.append(StoreRead(ReadOutcome.GONE))
                continue
            if not one.range.fits(log.epochs.epoch_for(offset)):
                reads.append(StoreRead(ReadOutcome.GONE))
                continue
            told = log.aborted_among(offset, found) if one.range.committed else ()
            aborted = tuple((each.producer_id, each.first_offset) for each in told)
            reads.append(StoreRead(ReadOutcome.RECORDS, data, aborted))
        return reads

    async def find_timestamp_many(
        self, wanted: Sequence[tuple[LogicalPartition, Search, int]], *, timeout_s: float
    ) -> Sequence[SearchEnd]:
        """As Kafka finds them: the first segment that has a record as late, and no other."""
        return [await self._find(_log(one), search, timestamp) for one, search, timestamp in wanted]

    async def _find(self, log: Log, search: Search, timestamp: int) -> SearchEnd:
        try:
            if timestamp == MAX_TIMESTAMP:
                return SearchEnd(await log.offset_of_max_timestamp(upto=search.end))
            found = await log.offset_for_timestamp(timestamp, start=search.start, upto=search.end)
            return SearchEnd(found)
        except (OSError, ValueError):
            if search.start < log.local_log_start_offset:  # removed while it was searched
                return SearchEnd(error=ErrorCode.kafka_storage_error)
            raise


def _log(partition: LogicalPartition) -> Log:
    if partition.replica is None:
        raise KafkaError(ErrorCode.not_leader_or_follower)
    return partition.replica.log
