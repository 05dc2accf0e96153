"""The remover of what deleted topics left in the remote store (C-30).

    DELETE_PARTITION_MARKED ► DELETE_PARTITION_STARTED
      ► each segment: DELETE_SEGMENT_STARTED ► delete ► DELETE_SEGMENT_FINISHED
      ► DELETE_PARTITION_FINISHED

It is done by the broker that leads the metadata partition with the partition's events: it sees
these and the cluster metadata. What comes next is decided by what is there, so it may stop anywhere
and be repeated by any broker. Partitions are marked as soon as the image says that no broker adds
anything to them; they are removed when this broker takes the lead of their metadata partition, and
every interval. Everything is kept by topic id: a topic of the same name is another one.

An id that only the metadata manager knows may be of a topic that this broker has not heard of yet.
So the image has to know of the deletion before anything is marked.

No offsets are committed as the group `__remote_partition_remover`: they would say from where marks
are to be read again, and no mark is read again. The states say what is done, and the manager keeps
them; its interface has no offsets.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from enum import StrEnum

from reference_impl.decisions import decision
from reference_impl.metadata.image import Image
from reference_impl.metadata.records import CONTROLLER_EPOCH
from reference_impl.ports.log_lines import Lines
from reference_impl.replication.watching import Watched, until
from reference_impl.tiered.segments import (
    PartitionDeleteState,
    RemoteLogSegmentMetadata,
    RemotePartitionDeleteMetadata,
    SegmentState,
    TopicIdPartition,
)
from reference_impl.tiered.tier import Tier

_NS = 1_000_000_000
_MS = 1_000_000


class TopicPresence(StrEnum):
    """What the cluster metadata knows of a topic id."""

    UNKNOWN = "unknown"  # not created yet, as far as this broker has read
    LIVE = "live"
    REMOVING = "removing"  # deleted, and a broker may not have heard of it
    STOPPED = "stopped"  # deleted, and nothing is added to its remote data


class Removal(StrEnum):
    """What is done next about a partition's remote data."""

    NOTHING = "nothing"
    MARK = "mark"
    START = "start"
    DELETE_SEGMENT = "delete a segment"
    FINISH = "finish"


@decision("next-removal", rules=("TS-086", "TS-100"))
def next_removal(
    presence: TopicPresence, state: PartitionDeleteState | None, segments: int
) -> Removal:
    """Marked is only what no broker adds to; what is marked is removed to the end."""
    match state:
        case None:
            return Removal.MARK if presence is TopicPresence.STOPPED else Removal.NOTHING
        case PartitionDeleteState.DELETE_PARTITION_MARKED:
            return Removal.START
        case PartitionDeleteState.DELETE_PARTITION_STARTED:
            return Removal.DELETE_SEGMENT if segments else Removal.FINISH
        case PartitionDeleteState.DELETE_PARTITION_FINISHED:
            return Removal.NOTHING


@decision("removal-is-due", rules=("TS-100",))
def removal_is_due(ran_in_epoch: int | None, leader_epoch: int, overdue: bool) -> bool:
    """On taking the lead of the metadata partition, and every interval."""
    return overdue or ran_in_epoch != leader_epoch


class RemotePartitionRemover(Watched):
    """Marks and removes, for all partitions whose metadata partition this broker leads."""

    def __init__(self, tier: Tier, image: Image) -> None:
        super().__init__()
        self._tier = tier
        self._image = image
        self._ran_in: dict[TopicIdPartition, int] = {}
        self._done: dict[TopicIdPartition, None] = {}
        self._due_ns = 0
        self._attempt = 0
        self._soon = False
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Run from now on, whenever the image or the metadata of a partition changes."""
        self._image.watch(lambda _: self._look_again())
        self._tier.metadata.watch(self._applied)
        self._due_ns = self._now_ns() + self._interval_ns()
        self._running = asyncio.get_running_loop().create_task(self._loop())

    async def stop(self) -> None:
        """Cancel it, whatever it does."""
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running

    def _applied(self, partition: TopicIdPartition) -> None:
        if partition.topic_id in self._image.stopped and partition not in self._done:
            self._look_again()  # events of other partitions change nothing here

    def _look_again(self) -> None:
        self._soon = True
        self.wake()

    async def _loop(self) -> None:
        while True:
            self._soon = False
            overdue = self._now_ns() >= self._due_ns
            if overdue:
                self._due_ns = self._now_ns() + self._interval_ns()
            wait_ns = self._due_ns - self._now_ns()
            if await self._round(overdue):
                self._attempt = 0
            else:
                wait_ns = min(wait_ns, self._retry_ns())
            await until(lambda: self._soon, [self], timeout_s=wait_ns / _NS)

    async def _round(self, overdue: bool) -> bool:
        """Mark and remove what is to be; whether all that is to be marked is."""
        all_marked = True
        for partition, epoch in list(self._led()):
            if not self._tier.metadata.is_initialised(partition):
                all_marked = False
                continue
            all_marked = await self._mark(partition, epoch) and all_marked
            if removal_is_due(self._ran_in.get(partition), epoch, overdue):
                self._ran_in[partition] = epoch
                await self._remove(partition, epoch)
        return all_marked

    def _led(self) -> Iterator[tuple[TopicIdPartition, int]]:
        """Partitions of deleted topics that are this broker's to remove, and its epoch there."""
        for topic in self._image.stopped.values():
            for index in topic.partitions:
                partition = TopicIdPartition(topic.topic_id, topic.name, index)
                if partition in self._done:
                    continue
                epoch = self._tier.metadata.metadata_leader_epoch(partition)
                if epoch is not None:
                    yield partition, epoch

    async def _mark(self, partition: TopicIdPartition, epoch: int) -> bool:
        if self._next(partition) is not Removal.MARK:
            return True
        try:
            await self._put(
                partition, PartitionDeleteState.DELETE_PARTITION_MARKED, CONTROLLER_EPOCH
            )
        except Exception as error:  # a plug-in may raise anything; the others have their turn
            self._failed(partition, error)
            return False
        self._ran_in[partition] = epoch  # its turn comes with the interval
        return True

    async def _remove(self, partition: TopicIdPartition, epoch: int) -> None:
        """Bring it to its end; what fails is tried again the next time."""
        try:
            while self._tier.metadata.metadata_leader_epoch(partition) == epoch:
                if not await self._step(partition, epoch):
                    return
        except Exception as error:  # a plug-in may raise anything; the others have their turn
            self._failed(partition, error)

    async def _step(self, partition: TopicIdPartition, epoch: int) -> bool:
        """Do what comes next; whether there was anything."""
        match self._next(partition):
            case Removal.START:
                await self._put(partition, PartitionDeleteState.DELETE_PARTITION_STARTED, epoch)
            case Removal.DELETE_SEGMENT:
                await self._delete(self._tier.metadata.list_remote_log_segments(partition)[0])
            case Removal.FINISH:
                await self._put(partition, PartitionDeleteState.DELETE_PARTITION_FINISHED, epoch)
                self._tier.ports.log(
                    Lines.PARTITION_REMOVED, partition=partition, id=partition.topic_id
                )
            case _:
                state = self._tier.metadata.deletion_of(partition)
                if state is not None:
                    self._done[partition] = None
                return False
        return True

    def _next(self, partition: TopicIdPartition) -> Removal:
        metadata = self._tier.metadata
        deletion = metadata.deletion_of(partition)
        return next_removal(
            self._presence(partition),
            None if deletion is None else deletion.state,
            len(metadata.list_remote_log_segments(partition)),
        )

    def _presence(self, partition: TopicIdPartition) -> TopicPresence:
        image, topic_id = self._image, partition.topic_id
        if topic_id in image.stopped:
            return TopicPresence.STOPPED
        if topic_id in image.removing:
            return TopicPresence.REMOVING
        return TopicPresence.LIVE if topic_id in image.topic_ids else TopicPresence.UNKNOWN

    async def _delete(self, segment: RemoteLogSegmentMetadata) -> None:
        """In whatever state it is; in the highest epoch of its partition, or it is dropped."""
        tier = self._tier
        epoch = tier.metadata.highest_leader_epoch(segment.partition)
        if segment.state is not SegmentState.DELETE_SEGMENT_STARTED:
            await tier.publish(segment, SegmentState.DELETE_SEGMENT_STARTED, epoch)
        await tier.storage.delete_log_segment_data(segment)
        await tier.publish(segment, SegmentState.DELETE_SEGMENT_FINISHED, epoch)
        await tier.forget_indexes(segment.segment_id)

    async def _put(
        self, partition: TopicIdPartition, state: PartitionDeleteState, epoch: int
    ) -> None:
        await self._tier.metadata.put_remote_partition_delete_metadata(
            RemotePartitionDeleteMetadata(
                partition=partition,
                epoch=epoch,
                event_timestamp_ms=self._tier.ports.clock.now_ms(),
                state=state,
            )
        )

    # Time.

    def _failed(self, partition: TopicIdPartition, error: Exception) -> None:
        self._tier.ports.log(
            Lines.REMOTE_TASK_FAILED,
            partition=partition,
            task="removal",
            attempt=self._attempt,
            why=f"{type(error).__name__}: {error}",
        )

    def _retry_ns(self) -> int:
        wait_ms = self._tier.backoff_ms(self._attempt)
        self._attempt += 1
        return int(wait_ms * _MS)

    def _now_ns(self) -> int:
        return self._tier.ports.clock.monotonic_ns()

    def _interval_ns(self) -> int:
        return self._tier.settings().remover_interval_ms * _MS
