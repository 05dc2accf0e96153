"""The copy of a partition that a broker has: its log, and how it follows a leader's.

What a leader sent, and what was learned about its log, changes the copy only if it still follows
that leader in that epoch; what took long, only if its log is still the one that was asked for.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from reference_impl.kafka.batches import Bytes
from reference_impl.log.decisions import UNDEFINED_EPOCH, EpochEntry
from reference_impl.log.log import Log, UnexpectedAppendOffset
from reference_impl.log.producers import Producer
from reference_impl.metadata.image import PartitionState
from reference_impl.replication.decisions import (
    EpochEnd,
    follower_high_watermark,
    truncation_point,
)
from reference_impl.replication.following import FollowEvent, Following
from reference_impl.replication.watching import Watched

_NOBODY = PartitionState(replicas=(), isr=(), leader=-1, leader_epoch=-1, partition_epoch=-1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerPosition:
    """Where a follower is: what it tells its leader, and compares when an answer comes."""

    leader_epoch: int
    offset: int
    last_epoch: int
    log_start_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPoint:
    """A log without records: where it goes on, and what is known of all that came before."""

    offset: int
    log_start_offset: int
    epochs: tuple[EpochEntry, ...]
    producers: tuple[Producer, ...]


class Copy(Watched):
    """A log and its leader's. ``log`` is open for as long as the object is used."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.log = log
        self.state = _NOBODY
        self.following = Following()
        self._turn = asyncio.Lock()

    @property
    def leads(self) -> bool:
        """This broker is the leader, as far as it knows."""
        raise NotImplementedError

    @property
    def position(self) -> FollowerPosition:
        """Where this follower is."""
        log, latest = self.log, self.log.epochs.latest
        return FollowerPosition(
            leader_epoch=self.state.leader_epoch,
            offset=log.log_end_offset,
            last_epoch=-1 if latest is None else latest,
            log_start_offset=log.log_start_offset,
        )

    async def _truncate_to(self, offset: int) -> None:
        await self.log.truncate_to(offset)
        self._truncated(offset)

    def _truncated(self, offset: int) -> None:
        """The log was cut there, because its leader's parts from it."""

    def _follow(self, *, new_epoch: bool) -> None:
        epoch = self.state.leader_epoch
        if self.leads or not self.state.has_leader:
            self.following.happened(FollowEvent.STOPPED_FOLLOWING, self.following.leader_epoch)
        elif new_epoch:
            self.following.happened(FollowEvent.NEW_LEADER_EPOCH, epoch)

    async def copy(
        self,
        records: Bytes,
        *,
        leader_epoch: int,
        high_watermark: int,
        log_start_offset: int,
        upto: int | None = None,
    ) -> None:
        """Append what the leader of that epoch sent, unless another has begun since."""
        async with self._turn:
            if self.leads or self.state.leader_epoch != leader_epoch:
                return
            if records:
                await self._copy_batches(records, leader_epoch, log_start_offset, upto)
            end = self.log.log_end_offset
            self.log.high_watermark = follower_high_watermark(
                self.log.high_watermark, high_watermark, end
            )
            if log_start_offset > self.log.log_start_offset:
                await self.log.advance_log_start_offset(log_start_offset)
        self.wake()

    async def _copy_batches(
        self, records: Bytes, leader_epoch: int, leaders_start: int, upto: int | None
    ) -> None:
        log = self.log
        try:
            await log.append_as_follower(records, leader_epoch=leader_epoch, upto=upto)
        except UnexpectedAppendOffset as error:
            end, first = log.log_end_offset, error.first_offset
            inside = first < end <= error.last_offset
            if not inside or end not in (log.local_log_start_offset, leaders_start):
                raise
            # The leader's log starts inside a batch, of which there is only a whole: a log that is
            # empty, or was cut to that start (epochs that were deleted end there), and so has
            # nothing that the leader still has, begins anew with the batch.
            if log.segments[0].base_offset == end:
                await log.truncate_to(first)  # what is known of offsets before it stays so
            else:
                await log.restart_at(first)
            await log.append_as_follower(records, leader_epoch=leader_epoch, upto=upto)

    async def agree(self, leaders: EpochEnd, *, leader_epoch: int) -> None:
        """Cut what the leader does not have; it said where its log of that epoch ends."""
        async with self._turn:
            if self.leads or self.state.leader_epoch != leader_epoch:
                return
            end = self.log.log_end_offset
            epoch, end_offset = self.log.epochs.end_offset_for(leaders.epoch, end)
            own = EpochEnd(epoch=epoch, end_offset=end_offset)
            await self._truncate_to(truncation_point(leaders, own, end))

    async def fit_range(
        self, start: int, end: int, *, asked: FollowerPosition, log_start: int = -1
    ) -> None:
        """The leader's log does not reach ours: cut to its end, or begin anew at its start.

        A leader that cannot get at what is elsewhere says where its log begins all the same
        (``log_start``): that is not given up, and its epochs are unknown for now. Unless this is
        not the follower any more that asked, or its log another.
        """
        async with self._turn:
            if self.leads or self.position != asked:
                return
            if end < asked.offset:
                await self._truncate_to(end)
            elif start > asked.offset and self.log.older_elsewhere and 0 <= log_start < start:
                unknown = EpochEntry(UNDEFINED_EPOCH, log_start)
                await self.log.restart_at(start, log_start_offset=log_start, epochs=[unknown])
            elif start > asked.offset:
                await self.log.restart_at(start)

    async def empty_at(self, offset: int, *, asked: FollowerPosition) -> FollowerPosition | None:
        """Empty the log, and have it begin and end at the leader's log start; where it is then.

        Held there, a crash costs nothing: the next fetch is told again what is elsewhere. None
        unless as above.
        """
        async with self._turn:
            if self.leads or self.position != asked:
                return None
            log = self.log
            if (log.log_start_offset, log.log_end_offset, log.epochs.entries) != (
                offset,
                offset,
                (),
            ):
                await log.restart_at(offset)
            return self.position

    async def begin_at(self, point: RestartPoint, *, asked: FollowerPosition) -> None:
        """Begin the log anew where what is known of the leader's ends; unless as above."""
        async with self._turn:
            if self.leads or self.position != asked:
                return
            await self.log.restart_at(
                point.offset,
                log_start_offset=point.log_start_offset,
                epochs=point.epochs,
                producers=point.producers,
            )
        self.wake()
