"""Reading for one Fetch request: plan every partition, deal out the bytes, read, wait, answer.

plan      where each read goes (`partitions/routing.py`)
deal      in the order of the request each read is measured and gets of the bytes that are left
read      every store once, all stores at the same time; authorities over bounds that are not
          known are asked meanwhile, once for all partitions of the request, and what they
          tell of is read of the bytes that are left then
wait      until there is enough, or time is up; only what changed is planned and read again
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reference_impl.kafka.apis import FETCH
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.partitions.catalog import Partitions
from reference_impl.partitions.logical import LogicalPartition, Plan, watched_of
from reference_impl.partitions.refreshing import refresh_all
from reference_impl.partitions.routing import (
    After,
    Empty,
    Refresh,
    Refuse,
    Serve,
    Wait,
    after_read,
    after_tiered_read,
    after_wait,
)
from reference_impl.partitions.stores import Measured, Range, StoreRead
from reference_impl.partitions.views import Bounds, FetchReader, Refreshed, RegionKind
from reference_impl.replication.decisions import Reader
from reference_impl.replication.watching import until

if TYPE_CHECKING:
    from reference_impl.kafka.messages import FetchRequest, FetchResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a whole request says, whichever version it has."""

    version: int
    replica_id: int
    replica_epoch: int
    kind: Reader
    only_leader: bool
    rack: str
    max_bytes: int
    min_bytes: int
    wait_s: float
    store_wait_s: float  # for a store other than the disk, where the client does not wait so long

    @property
    def follower(self) -> bool:
        """Whether a broker asks, for its replica."""
        return self.replica_id >= 0


class PartitionRead:
    """One partition of a request: how it was planned, and what came of it so far."""

    __slots__ = ("again", "answer", "partition", "plan", "prefer", "reader", "request")

    def __init__(
        self,
        partition: LogicalPartition,
        request: FetchRequest.FetchPartition,
        reader: FetchReader,
        prefer: Callable[[], int | None] | None = None,
    ) -> None:
        self.partition = partition
        self.request = request
        self.reader = reader
        self.prefer = prefer
        self.again = False
        self.plan = self.replan()
        self.answer: FetchResponse.PartitionData

    def replan(self, refreshed: Refreshed = Refreshed.NOT_ASKED) -> Plan:
        """Route it as things are now."""
        self.plan = self.partition.plan_read(
            self.request.fetch_offset,
            self.reader,
            preferred=None if self.prefer is None else self.prefer(),
            refreshed=refreshed,
        )
        return self.plan

    def changed(self) -> bool:
        """Whether its reader would notice anything that happened since it was planned.

        What was read of a remote segment stays as it is, and reading it again may fail.
        """
        if self.size and self._tiered:
            return False
        return self.partition.shows(self.reader.kind) != self.plan.shown

    def refuse(self, error: ErrorCode, *, told: bool = False) -> None:
        """It is answered with an error, and with the bounds of the log if they are told."""
        self.answer = refused(self.request.partition, error)
        if told:
            self._tell(self.partition.bounds(self.reader.kind))

    def begin(self) -> None:
        """An answer without records, which says what the route says."""
        route = self.plan.route
        if isinstance(route, Refuse):
            self.refuse(route.error, told=route.told)
            return
        self.answer = answer = FETCH.response.PartitionData(
            partition_index=self.request.partition, high_watermark=-1, records=b""
        )
        self._tell(self.plan.bounds)
        if self.reader.kind is Reader.COMMITTED:
            answer.aborted_transactions = []
        if isinstance(route, Empty):
            if route.preferred is not None:
                answer.preferred_read_replica = route.preferred
            if route.diverging is not None:
                answer.aborted_transactions = None  # nothing was read, so nothing is to be skipped
                answer.diverging_epoch = FETCH.response.EpochEndOffset(
                    epoch=route.diverging.epoch, end_offset=route.diverging.end_offset
                )

    def tell_bounds(self) -> None:
        """The bounds of the log as they are now, unless it is answered with an error."""
        if not self.answer.error_code:
            self._tell(self.partition.bounds(self.reader.kind))

    def _tell(self, bounds: Bounds) -> None:
        self.answer.high_watermark = bounds.high_watermark
        self.answer.last_stable_offset = bounds.last_stable_offset
        kept_from = bounds.kept_from
        self.answer.log_start_offset = bounds.log_start_offset if kept_from is None else kept_from

    def end(self) -> None:
        """Time is up: what it still waits for may be an error."""
        route = self.plan.route
        if isinstance(route, Wait) and (error := after_wait(route.on, self.partition.role)):
            self.refuse(error, told=True)

    def take(self, read: StoreRead) -> None:
        """What a store read of it, or how that ended."""
        then = (
            after_tiered_read(read.outcome, self.again)
            if self._tiered
            else after_read(read.outcome, self.partition.role, self.again)
        )
        self.again = then is After.ROUTE_AGAIN
        if isinstance(then, ErrorCode):
            self.refuse(then, told=True)
        elif then is After.ANSWER:
            self.answer.records = read.records
            if self.reader.kind is Reader.COMMITTED:
                self.answer.aborted_transactions = [
                    FETCH.response.AbortedTransaction(producer_id=producer, first_offset=first)
                    for producer, first in read.aborted
                ]

    @property
    def _tiered(self) -> bool:
        """Whether it is read from remote segments."""
        route = self.plan.route
        return isinstance(route, Serve) and route.region.kind is RegionKind.TIERED

    @property
    def size(self) -> int:
        """The bytes of its records."""
        return len(self.answer.records or b"")

    @property
    def urgent(self) -> bool:
        """Whether its answer is not to be waited with."""
        answer = self.answer
        return bool(
            answer.error_code
            or answer.diverging_epoch.epoch >= 0
            or answer.preferred_read_replica >= 0
        )


def refused(index: int, error: ErrorCode) -> FetchResponse.PartitionData:
    """A partition that is answered with an error."""
    return FETCH.response.PartitionData(
        partition_index=index,
        high_watermark=-1,
        error_code=error,
        aborted_transactions=[] if error in UNKNOWN else None,
        records=b"",
    )


UNKNOWN: dict[int, int] = {ErrorCode.unknown_topic_id: 1, ErrorCode.unknown_topic_or_partition: 2}
"""Errors about partitions that Kafka never looks at, and the order in which it tells them."""


class FetchReads:
    """The reads of one request. ``some_failed``: others of its partitions were refused already."""

    def __init__(
        self,
        partitions: Partitions,
        asked: Asked,
        reads: Sequence[PartitionRead],
        *,
        some_failed: bool,
    ) -> None:
        self._partitions = partitions
        self._asked = asked
        self._reads = reads
        self._some_failed = some_failed
        self._begun_s = 0.0

    async def run(self) -> None:
        """Return when every answer can be given."""
        asked, reads = self._asked, self._reads
        self._begun_s = asyncio.get_running_loop().time()
        await self._round(reads)
        if asked.follower:
            self._note_follower()
        if asked.wait_s > 0 and reads and not self._enough():
            await self._wait()
        for one in reads:
            one.end()

    async def _wait(self) -> None:
        """Until there is enough, or time is up."""
        reads = self._reads
        loop = asyncio.get_running_loop()
        deadline = self._begun_s + self._asked.wait_s
        watched = watched_of([one.partition for one in reads])
        while not self._enough():
            timeout_s = deadline - loop.time()
            if not await until(self._news, watched, timeout_s=timeout_s):
                break
            changed = [one for one in reads if one.changed()]
            for one in changed:
                one.replan()
            await self._round(changed)
        for one in reads:
            one.tell_bounds()

    def _news(self) -> bool:
        return any(one.changed() for one in self._reads)

    def _enough(self) -> bool:
        if self._some_failed or any(one.urgent for one in self._reads):
            return True
        return sum(one.size for one in self._reads) >= self._asked.min_bytes

    async def _round(self, reads: Sequence[PartitionRead]) -> None:
        """Read what was planned; what turns out to be gone is planned and read once more."""
        await self._refresh_and_read(reads)
        again = [one for one in reads if one.again]
        if again:
            for one in again:
                one.replan()
            await self._refresh_and_read(again)
            for one in again:
                one.again = False

    async def _refresh_and_read(self, reads: Sequence[PartitionRead]) -> None:
        """What needs no authority is read while the authorities over the rest are asked."""
        unknown = [one for one in reads if isinstance(one.plan.route, Refresh)]
        if not unknown:
            await self._read(reads)
            return
        for one in unknown:
            one.begin()
        ready = [one for one in reads if one not in unknown]
        await asyncio.gather(self._read(ready), self._refresh(unknown))
        await self._read(unknown)

    async def _refresh(self, reads: Sequence[PartitionRead]) -> None:
        """Ask each authority once for all partitions whose bounds are not known."""
        wanted: dict[RegionKind, list[PartitionRead]] = {}
        for one in reads:
            if isinstance(one.plan.route, Refresh):
                wanted.setdefault(one.plan.route.what, []).append(one)
        ended = await refresh_all(
            self._partitions.authorities,
            {kind: [one.partition for one in some] for kind, some in wanted.items()},
            timeout_s=self._store_time_left(),
        )
        for some, came in zip(wanted.values(), ended, strict=True):
            for one, refreshed in zip(some, came, strict=True):
                one.replan(refreshed)

    async def _read(self, reads: Sequence[PartitionRead]) -> None:
        others = 0
        if len(reads) < len(self._reads):
            others = sum(one.size for one in self._reads if one not in reads)
        groups = await self._deal(reads, max(0, self._asked.max_bytes - others), not others)
        stores = self._partitions.stores
        timeout_s = self._store_time_left() if groups else 0.0
        ended = await _together(
            [
                stores[kind].read_many([measured for _, measured in group], timeout_s=timeout_s)
                for kind, group in groups.items()
            ]
        )
        for group, results in zip(groups.values(), ended, strict=True):
            for (one, _), read in zip(group, results, strict=True):
                one.take(read)

    def _store_time_left(self) -> float:
        """How long stores may still take; the clock runs from the arrival of the request."""
        waits_s = max(self._asked.wait_s, self._asked.store_wait_s)
        return max(0.0, self._begun_s + waits_s - asyncio.get_running_loop().time())

    async def _deal(
        self, reads: Sequence[PartitionRead], left: int, at_least_one: bool
    ) -> dict[RegionKind, list[tuple[PartitionRead, Measured]]]:
        """Measure each read, in order, within the bytes that those before it left."""
        groups: dict[RegionKind, list[tuple[PartitionRead, Measured]]] = {}
        for one in reads:
            one.begin()
            route = one.plan.route
            if not isinstance(route, Serve):
                continue
            wanted = Range(
                one.partition,
                one.request.fetch_offset,
                route.upto,
                min(one.reader.max_bytes, left),
                at_least_one,
                one.plan.epoch,
                committed=one.reader.kind is Reader.COMMITTED,
            )
            try:
                found = await self._partitions.stores[route.region.kind].measure(wanted)
            except KafkaError as error:
                one.refuse(error.code)
                continue
            if isinstance(found, StoreRead):
                one.take(found)
                continue
            left = max(0, left - found.bytes)
            at_least_one = False
            groups.setdefault(route.region.kind, []).append((one, found))
        return groups

    def _note_follower(self) -> None:
        """A follower's fetch says how far it is, if it was not refused."""
        for one in self._reads:
            if one.urgent:
                continue
            try:
                one.partition.follower_fetched(
                    self._asked.replica_id,
                    offset=one.request.fetch_offset,
                    log_start_offset=one.request.log_start_offset,
                    leaders_end=one.plan.bounds.log_end_offset,
                    epoch=self._asked.replica_epoch,
                )
            except KafkaError as error:
                one.refuse(error.code)


async def _together(
    reading: list[Coroutine[Any, Any, Sequence[StoreRead]]],
) -> Sequence[Sequence[StoreRead]]:
    """All stores at the same time; no task is made for one alone."""
    return [await one for one in reading] if len(reading) < 2 else await asyncio.gather(*reading)
