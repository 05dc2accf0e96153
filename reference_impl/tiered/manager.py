"""The remote log manager of a broker: tiered storage as a `Storage` of its partitions.

It hears what happens to partitions, adds the region `TIERED` to those whose topic has
`remote.storage.enable`, tells the metadata manager which of them are here, and runs their tasks for
as long as a replica is here: whether one leads is asked when a task runs. Reading is done by the
store of the region, following by what builds auxiliary state; both are given.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.participants import Deleted, Event, RoleChanged, Started, Stopped
from reference_impl.partitions.refreshing import Authority
from reference_impl.partitions.stores import Store
from reference_impl.partitions.views import RegionKind, Role
from reference_impl.replication.fetcher import KeptElsewhere
from reference_impl.tiered.aux_repair import EarlierStateTask, OnceLineageIsKnown
from reference_impl.tiered.aux_state import AuxiliaryState
from reference_impl.tiered.copying import CopyTask, cancelled_copies, copy_lag
from reference_impl.tiered.expiry import ExpiryTask, LocalRetentionTask
from reference_impl.tiered.extension import TieredExtension
from reference_impl.tiered.metadata import NotInitialised
from reference_impl.tiered.meters import COPY_LAG, TASKS_IDLE
from reference_impl.tiered.segments import RemoteLogSegmentMetadata, TopicIdPartition
from reference_impl.tiered.storage import RemoteStorageException
from reference_impl.tiered.tasks import Task, TaskKind, TaskLoop, TaskPool
from reference_impl.tiered.tier import Tier


class Service(Protocol):
    """Something that runs beside the tasks of partitions: the remover of deleted topics."""

    def start(self) -> None:
        """Begin."""
        ...

    async def stop(self) -> None:
        """End, at once."""
        ...


class RemoteLogManager:
    """See the module. ``configure`` is called once the broker answers, until it succeeds."""

    def __init__(
        self,
        tier: Tier,
        *,
        stores: Mapping[RegionKind, Store],
        remote_aux: AuxiliaryState | None = None,
        services: Sequence[Service] = (),
        configure: Callable[[], None] = lambda: None,
    ) -> None:
        self.stores = stores
        self.authorities: Mapping[RegionKind, Authority] = {}
        self._tier = tier
        self._remote_aux = remote_aux
        self._services = tuple(services)
        self._configure = configure
        self._begun = False
        now_ns = tier.ports.clock.monotonic_ns
        self._pool = TaskPool(tier.settings().thread_pool_size, now_ns)
        self._here: dict[TopicIdPartition, TieredExtension] = {}
        self._loops: dict[TopicIdPartition, dict[TaskKind, TaskLoop]] = {}
        self._cleaning: dict[TopicIdPartition, asyncio.Task[None]] = {}
        tier.meters.idle(TASKS_IDLE, self._pool, lambda: self._pool.slots, now_ns)
        tier.meters.gauge(COPY_LAG, self._copy_lag_bytes)

    @property
    def participant(self) -> RemoteLogManager:
        """Itself."""
        return self

    @property
    def elsewhere(self) -> KeptElsewhere:
        """Which logs may start below their disk, and how a follower builds what it lacks."""
        return KeptElsewhere(
            older=lambda topic: self._tier.topics().tiered(topic), remote_aux=self._remote_aux
        )

    def extension(self, partition: LogicalPartition) -> TieredExtension | None:
        """What is known of a partition here, if it is tiered and has a replica."""
        return self._here.get(_id(partition))

    # ── events ───────────────────────────────────────────────────────────────────────────────────

    async def hear(self, partition: LogicalPartition, event: Event) -> None:
        """Begin and end the tasks of partitions; tell the metadata manager of roles."""
        self._begin()
        if isinstance(event, Stopped | Deleted) or partition.replica is None:
            await self._forget(partition)
        elif not isinstance(event, Started) and self._tier.topics().tiered(partition.topic):
            added = _id(partition) not in self._here
            if added:
                self._add(partition)
            if added or isinstance(event, RoleChanged):
                self._took_role(partition)

    def _begin(self) -> None:
        if self._begun:
            return
        self._configure()  # where it fails, the next event tries again
        self._begun = True
        self._tier.metadata.watch(self._applied)
        for service in self._services:
            service.start()

    def _add(self, partition: LogicalPartition) -> None:
        loops: dict[TaskKind, TaskLoop] = {}
        extension = TieredExtension(
            partition, self._tier.metadata, lambda: loops[TaskKind.EXPIRY].run_soon()
        )
        by_lineage: dict[TaskKind, Task] = {
            TaskKind.COPY: CopyTask(self._tier, extension),
            TaskKind.EXPIRY: ExpiryTask(self._tier, extension),
            TaskKind.LOCAL: LocalRetentionTask(self._tier, extension),
        }
        tasks: dict[TaskKind, Task] = {
            TaskKind.EARLIER_STATE: EarlierStateTask(extension, self._remote_aux)
        }
        for kind, task in by_lineage.items():
            tasks[kind] = OnceLineageIsKnown(extension, task)
        for kind, task in tasks.items():
            pool = None if kind is TaskKind.LOCAL else self._pool
            loops[kind] = TaskLoop(self._tier, kind, task, name=extension.id, pool=pool)
        self._here[extension.id], self._loops[extension.id] = extension, loops
        partition.extensions = (*partition.extensions, extension)
        partition.wake()
        for loop in loops.values():
            loop.start()

    def _took_role(self, partition: LogicalPartition) -> None:
        key = _id(partition)
        leads = partition.role is Role.LEADER
        self._tier.metadata.on_partition_leadership_changes(
            [key] if leads else [], [] if leads else [key]
        )
        for loop in self._loops[key].values():
            loop.run_soon()

    async def _forget(self, partition: LogicalPartition) -> None:
        key = _id(partition)
        extension = self._here.pop(key, None)
        if extension is None:
            return
        partition.extensions = tuple(one for one in partition.extensions if one is not extension)
        for loop in self._loops.pop(key).values():
            await loop.stop()
        self._tier.metadata.on_stop_partitions([key])
        left = cancelled_copies(extension)
        if left:
            cleaning = asyncio.get_running_loop().create_task(self._clean(key, left))
            self._cleaning[key] = cleaning

    async def _clean(self, key: TopicIdPartition, left: Sequence[RemoteLogSegmentMetadata]) -> None:
        """Take away what cancelled copies wrote; nothing is published of it (C-36)."""
        attempt = 0
        for metadata in left:
            while True:
                try:
                    await self._tier.storage.delete_log_segment_data(metadata)
                    break
                except RemoteStorageException:
                    await self._tier.ports.clock.sleep(self._tier.backoff_ms(attempt) / 1000)
                    attempt += 1
        if self._cleaning.get(key) is asyncio.current_task():
            del self._cleaning[key]

    def _applied(self, partition: TopicIdPartition) -> None:
        extension = self._here.get(partition)
        if extension is not None:
            extension.metadata_changed()

    # ── the end ──────────────────────────────────────────────────────────────────────────────────

    async def stop(self, *, clean: bool) -> None:
        """Cancel everything; a clean end lets the plug-ins write down what they know."""
        for service in self._services if self._begun else ():
            await service.stop()
        for loops in self._loops.values():
            for loop in loops.values():
                await loop.stop()
        for task in list(self._cleaning.values()):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if clean and self._begun:
            await self._tier.metadata.close()
            await self._tier.storage.close()

    # ── metrics ──────────────────────────────────────────────────────────────────────────────────

    def _copy_lag_bytes(self) -> int:
        return sum(self._lag_of(one) for one in self._here.values() if one.partition.leads)

    def _lag_of(self, extension: TieredExtension) -> int:
        try:
            return sum(one.size for one in copy_lag(extension))
        except NotInitialised:
            return 0


def _id(partition: LogicalPartition) -> TopicIdPartition:
    return TopicIdPartition(partition.topic_id, partition.topic, partition.index)
