"""The metadata manager in memory: one registry for all brokers, one view for each of them.

The registry is the order of events; a view is how far one broker has applied them, with a delay if
it is given one. The contract is that of the manager on the topic, which it is held equal to. Here
there is one metadata partition for everything, led by the broker that ``lead`` named.

``outage`` makes publishing fail: before anything happened, or after the event was published and
only its answer was lost.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from reference_impl.ports.clock import Clock
from reference_impl.tiered.cached_metadata import CachedMetadataManager
from reference_impl.tiered.life_cycles import Outcome, tell_publisher
from reference_impl.tiered.metadata import (
    MetadataUnavailable,
    NotInitialised,
    manager_follows,
)
from reference_impl.tiered.segment_cache import SegmentCache
from reference_impl.tiered.segments import (
    MetadataEvent,
    TopicIdPartition,
    partition_of,
)


class Outage(Enum):
    """What publishing does."""

    NONE = "answers"
    NOT_PUBLISHED = "fails"
    ANSWER_LOST = "publishes, then fails"


class MemoryMetadataRegistry:
    """All events of a cluster, in their order, and the views of its brokers."""

    def __init__(self) -> None:
        self.events: list[MetadataEvent] = []
        self.views: list[MemoryMetadataManager] = []
        self.outage = Outage.NONE
        self.leader: int | None = None
        self.leader_epoch = 0

    def lead(self, broker_id: int | None) -> None:
        """From now on this broker leads the metadata partition, in an epoch of its own."""
        self.leader, self.leader_epoch = broker_id, self.leader_epoch + 1
        for view in self.views:
            view.events_arrived()

    def publish(self, event: MetadataEvent) -> int:
        """Put an event behind all others; where it is."""
        if self.outage is Outage.NOT_PUBLISHED:
            raise MetadataUnavailable("the registry is out of reach")
        self.events.append(event)
        for view in self.views:
            view.events_arrived()
        if self.outage is Outage.ANSWER_LOST:
            raise MetadataUnavailable("the registry's answer was lost")
        return len(self.events) - 1


class MemoryMetadataManager(CachedMetadataManager):
    """The view of one broker. ``delay_s`` is how long an event takes to arrive here."""

    def __init__(
        self,
        registry: MemoryMetadataRegistry,
        *,
        broker_id: int,
        clock: Clock | None = None,
        delay_s: float = 0.0,
    ) -> None:
        if delay_s and clock is None:
            raise ValueError("a delay needs a clock")
        self.broker_id = broker_id
        self.delay_s = delay_s
        self._clock = clock
        self._registry = registry
        self._caches: dict[TopicIdPartition, SegmentCache] = {}
        self._applied = 0
        self._outcomes: dict[int, asyncio.Future[Outcome]] = {}
        self._progress: list[tuple[int, asyncio.Future[None]]] = []
        # What had been published when the view began to follow a partition.
        self._needed: dict[TopicIdPartition, int] = {}
        self._announced: dict[TopicIdPartition, None] = {}
        self._began_at = len(registry.events)
        self._watchers: list[Callable[[TopicIdPartition], None]] = []
        self._arriving: asyncio.Task[None] | None = None
        self._closed = False
        registry.views.append(self)
        if not delay_s:
            self.events_arrived()

    def configure(self, configs: Mapping[str, str]) -> None:
        """Nothing to configure."""

    # Publishing.

    async def _publish(self, event: MetadataEvent) -> None:
        self._require(partition_of(event))
        told = asyncio.get_running_loop().create_future()
        at = len(self._registry.events)
        self._outcomes[at] = told
        try:
            self._registry.publish(event)
            outcome = await told
        finally:
            self._outcomes.pop(at, None)
        tell_publisher(event, outcome)

    # Looking up.

    def metadata_leader_epoch(self, partition: TopicIdPartition) -> int | None:
        """See the interface."""
        leads = self._registry.leader == self.broker_id
        return self._registry.leader_epoch if leads else None

    def known_partitions(self) -> tuple[TopicIdPartition, ...]:
        """See the interface."""
        return tuple(
            sorted(
                key
                for key, cache in self._caches.items()
                if cache.has_events and self._follows(key)
            )
        )

    # Following.

    def on_partition_leadership_changes(
        self, leaders: Sequence[TopicIdPartition], followers: Sequence[TopicIdPartition]
    ) -> None:
        """See the interface."""
        for partition in (*leaders, *followers):
            self._needed.setdefault(partition, len(self._registry.events))
        self.events_arrived()
        self._announce()

    def on_stop_partitions(self, partitions: Sequence[TopicIdPartition]) -> None:
        """See the interface."""
        for partition in partitions:
            self._needed.pop(partition, None)
            self._announced.pop(partition, None)

    def is_initialised(self, partition: TopicIdPartition) -> bool:
        """See the interface."""
        if self._closed or not self._follows(partition):
            return False
        return self._applied >= self._needed.get(partition, self._began_at)

    async def caught_up(self, partition: TopicIdPartition) -> None:
        """See the interface."""
        end = len(self._registry.events)
        if not self._follows(partition) or self._closed:
            raise NotInitialised(f"{partition} is not followed here")
        if self._applied < end:
            reached = asyncio.get_running_loop().create_future()
            self._progress.append((end, reached))
            await reached

    def watch(self, applied: Callable[[TopicIdPartition], None]) -> None:
        """See the interface."""
        self._watchers.append(applied)

    async def close(self) -> None:
        """See the interface."""
        if self._closed:
            return
        self._closed = True
        self._registry.views.remove(self)
        if self._arriving is not None:
            self._arriving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._arriving
        closed = MetadataUnavailable("the manager is closed")
        for told in self._outcomes.values():
            if not told.done():
                told.set_exception(closed)
        for _, reached in self._progress:
            if not reached.done():
                reached.set_exception(closed)

    def events_arrived(self) -> None:
        """The registry has more than before."""
        if not self.delay_s:
            self._apply_up_to(len(self._registry.events))
        elif self._applied == len(self._registry.events):
            return
        elif self._arriving is None or self._arriving.done():
            self._arriving = asyncio.create_task(self._arrive())

    async def _arrive(self) -> None:
        assert self._clock is not None
        while self._applied < len(self._registry.events):
            end = len(self._registry.events)
            await self._clock.sleep(self.delay_s)
            self._apply_up_to(end)

    def _apply_up_to(self, end: int) -> None:
        while self._applied < end:
            at = self._applied
            event = self._registry.events[at]
            partition = partition_of(event)
            outcome = self._cache(partition).apply(event)
            self._applied = at + 1
            told = self._outcomes.get(at)
            if told is not None and not told.done():
                told.set_result(outcome)
            for watcher in self._watchers if outcome is Outcome.APPLIED else ():
                watcher(partition)
        reached = [one for upto, one in self._progress if upto <= self._applied]
        self._progress = [one for one in self._progress if one[0] > self._applied]
        for waiting in reached:
            if not waiting.done():
                waiting.set_result(None)
        self._announce()

    def _announce(self) -> None:
        for partition in self._needed:
            if partition not in self._announced and self.is_initialised(partition):
                self._announced[partition] = None
                for watcher in self._watchers:
                    watcher(partition)

    def _follows(self, partition: TopicIdPartition) -> bool:
        return manager_follows(partition in self._needed, self._registry.leader == self.broker_id)

    def _cache(self, partition: TopicIdPartition) -> SegmentCache:
        return self._caches.setdefault(partition, SegmentCache(partition))

    def _require(self, partition: TopicIdPartition) -> SegmentCache:
        if not self.is_initialised(partition):
            raise NotInitialised(f"the segments of {partition} are not all known yet")
        return self._caches.get(partition) or SegmentCache(partition)
