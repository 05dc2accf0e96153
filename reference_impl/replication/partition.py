"""One partition on one broker: its log, and what this broker is to it.

The image says who leads; ``take`` carries that out. A leader appends, learns from fetches how far
its followers are, and moves the high watermark; a follower copies what its leader has. Appends and
changes of role take turns, so that nothing is appended by somebody who has just stopped leading.

Times here are monotonic: a clock that is set back neither keeps a laggard in sync nor drops one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol
from uuid import UUID

from reference_impl.kafka.batches import Bytes
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.log.log import Appended, Log
from reference_impl.log.transactions import EndMarker
from reference_impl.log.verification import NO_GUARD
from reference_impl.metadata.image import Broker, PartitionState
from reference_impl.ports import Clock
from reference_impl.replication.copying import Copy
from reference_impl.replication.decisions import (
    Ack,
    FollowerView,
    acknowledge,
    answer_when_time_is_up,
    caught_up,
    cut_for_new_leader,
    end_is_known,
    enough_replicas_to_append,
    low_watermark,
    maximal_isr,
    may_join_isr,
    next_high_watermark,
)
from reference_impl.replication.events import PartitionEvents
from reference_impl.replication.followers import Follower

ANY_BROKER_EPOCH = -1
ALL_REPLICAS = -1


class Proposals(Protocol):
    """Who takes proposed changes of an ISR to the controller."""

    def propose(self, partition: Partition) -> None:
        """Send what ``partition.proposed_isr`` says, as soon as possible."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerContext:
    """What a partition needs to know of its broker."""

    broker_id: int
    clock: Clock
    brokers: Mapping[int, Broker]
    proposals: Proposals
    max_lag_ms: int
    events: PartitionEvents = field(default_factory=PartitionEvents)
    hand_over: Callable[[Partition], None] = lambda partition: None  # it leads, and cannot

    def now_ms(self) -> int:
        """Monotonic."""
        return self.clock.monotonic_ns() // 1_000_000


class Partition(Copy):
    """A replica of one partition. ``log`` is open for as long as the object is used."""

    def __init__(
        self, *, topic: str, topic_id: UUID, index: int, log: Log, surroundings: BrokerContext
    ) -> None:
        super().__init__(log)
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.min_insync_replicas = 1  # what the topic asks for
        self.proposed_isr: tuple[int, ...] | None = None
        self.followers: dict[int, Follower] = {}
        self.epoch_start_offset = -1
        self._around = surroundings
        log.on_roll = partial(surroundings.events.rolled, self)
        log.on_failure = self._hand_over_if_failed
        self.following.on_change = partial(surroundings.events.follows_otherwise, self)

    def __repr__(self) -> str:
        return f"{self.topic}-{self.index}"

    @property
    def leads(self) -> bool:
        """This broker is the leader, as far as it knows."""
        return self.state.leader == self._around.broker_id

    @property
    def maximal_isr(self) -> tuple[int, ...]:
        """Everybody who may turn out to be in sync once the controller has answered."""
        return maximal_isr(self.state.isr, self.proposed_isr)

    @property
    def min_in_sync(self) -> int:
        """How many must be in sync; never more than there are replicas."""
        return min(self.min_insync_replicas, len(self.state.replicas))

    # ── roles ────────────────────────────────────────────────────────────────────────────────────

    async def take(self, state: PartitionState) -> bool:
        """Become what the controller decided; True if another leader epoch has begun."""
        async with self._turn:
            if state.partition_epoch < self.state.partition_epoch:
                return False
            led, before, proposed = self.leads, self.state, self.proposed_isr
            if state == before:  # what it proposed is still to be decided
                return False
            new_epoch = state.leader_epoch > before.leader_epoch
            in_service = self.log.failure is None
            if new_epoch and state.leader == self._around.broker_id and in_service:
                # Also where nothing is appended in it: followers with a later epoch than any record
                # of this log must find out where to cut. And first: nobody may find a leader
                # whose epoch has not begun.
                await self.log.assign_epoch(state.leader_epoch)
            self.state = state
            self.proposed_isr = None
            if self.leads:
                self._lead(new_epoch=new_epoch, was_leader=led)
            else:
                self.followers.clear()
                self.epoch_start_offset = -1
                if new_epoch and in_service:
                    await self._begin_to_follow()
            self._follow(new_epoch=new_epoch)
        self._hand_over_if_failed()
        if new_epoch:
            self._around.events.role_taken(self)
        elif proposed is not None and sorted(state.isr) == sorted(proposed):
            self._around.events.isr_changed(self, before.isr, state.isr)
        self.wake()
        return new_epoch

    def _hand_over_if_failed(self) -> None:
        """A log that is out of service stays so as long as this broker runs: others must lead."""
        if self.leads and self.log.failure is not None:
            self._around.hand_over(self)

    def _truncated(self, offset: int) -> None:
        self._around.events.truncated(self, offset)

    async def _begin_to_follow(self) -> None:
        end = self.log.log_end_offset
        cut = cut_for_new_leader(self.log.high_watermark, end)
        if cut < end:
            await self._truncate_to(cut)

    def _lead(self, *, new_epoch: bool, was_leader: bool) -> None:
        others = [one for one in self.state.replicas if one != self._around.broker_id]
        self.followers = {one: self.followers.get(one) or Follower() for one in others}
        if new_epoch:
            end = self.log.log_end_offset
            self.epoch_start_offset = end
            now = self._around.now_ms()
            for one, follower in self.followers.items():
                in_sync = one in self.state.isr
                follower.reset(now_ms=now, leaders_end=end, was_leader=was_leader, in_sync=in_sync)
        self._commit()

    # ── the leader's side ────────────────────────────────────────────────────────────────────────

    async def append_marker(
        self,
        producer_id: int,
        producer_epoch: int,
        marker: EndMarker,
        *,
        admit: Callable[[], None],
        bumps: bool,
    ) -> tuple[Appended, int]:
        """End a producer's transaction, and in which epoch; a KafkaError says why not.

        ``admit`` is asked when it is its turn, as for batches.
        """
        async with self._turn:
            admit()
            if not self.leads:
                raise KafkaError(ErrorCode.not_leader_or_follower)
            self._must_be_enough(ALL_REPLICAS)
            leader_epoch = self.state.leader_epoch
            appended = await self.log.append_marker(
                producer_id, producer_epoch, marker, leader_epoch=leader_epoch, bumps=bumps
            )
            self._commit()
        self.wake()
        return appended, leader_epoch

    async def append(
        self,
        records: Bytes,
        *,
        acks: int,
        admit: Callable[[], None],
        guard: int = NO_GUARD,
        sequenced: bool = True,
    ) -> tuple[Appended, int]:
        """Append what a producer sent, and in which epoch; a KafkaError says why not.

        ``admit`` is asked again when it is its turn, and raises it if this log is not to be
        written any more. ``guard``: of a batch that is verified to be in a transaction;
        ``sequenced``: it is of the producer itself.
        """
        self._must_be_enough(acks)
        state = self.state
        examined = await self.log.examine(records)  # a change of role does not wait for this
        async with self._turn:
            admit()
            if self.state is not state:
                self._must_be_enough(acks)
            leader_epoch = self.state.leader_epoch
            appended = await self.log.append_examined(
                examined, leader_epoch=leader_epoch, guard=guard, sequenced=sequenced
            )
            self._commit()
        self._around.events.appended(self, appended, len(records))
        self.wake()
        return appended, leader_epoch

    def appends_held(self) -> asyncio.Lock:
        """As long as it is held nothing is appended, and no role changes."""
        return self._turn

    def _must_be_enough(self, acks: int) -> None:
        in_sync = len(self.state.isr)
        if not enough_replicas_to_append(acks, in_sync, self.min_in_sync):
            raise KafkaError(
                ErrorCode.not_enough_replicas,
                f"The size of the current ISR : {in_sync} is insufficient to satisfy the "
                f"min.isr requirement of {self.min_in_sync} for partition {self}, "
                f"live replica(s) broker.id are : {list(self.state.isr)}",
            )

    def acknowledgement(self, required_offset: int, leader_epoch: int) -> ErrorCode | None:
        """What to tell a producer that waits for all replicas; None: not yet."""
        if not self.leads or self.state.leader_epoch != leader_epoch:
            return ErrorCode.not_leader_or_follower
        in_sync = len(self.maximal_isr)
        answer = acknowledge(required_offset, self.log.high_watermark, in_sync, self.min_in_sync)
        return _ANSWERS[answer]

    def out_of_time(self) -> ErrorCode:
        """What to tell a producer that waited for all replicas as long as it would."""
        return answer_when_time_is_up(len(self.maximal_isr), self.min_in_sync)

    def follower_fetched(
        self, replica_id: int, *, offset: int, log_start_offset: int, leaders_end: int, epoch: int
    ) -> None:
        """Note how far a follower is; it may join the ISR and move the high watermark."""
        follower = self.followers.get(replica_id)
        if follower is None:
            raise KafkaError(ErrorCode.not_leader_or_follower, "the roles changed meanwhile")
        known = self._around.brokers.get(replica_id)
        if epoch != ANY_BROKER_EPOCH and known is not None and known.broker_epoch > epoch:
            raise KafkaError(ErrorCode.not_leader_or_follower, "a fetch of an earlier life")
        before = follower.log_end_offset, follower.log_start_offset
        follower.fetched(
            offset=offset,
            log_start_offset=log_start_offset,
            now_ms=self._around.now_ms(),
            leaders_end=leaders_end,
            epoch=epoch,
        )
        self._maybe_expand(replica_id, follower)
        if before != (follower.log_end_offset, follower.log_start_offset):
            self._commit()
            self.wake()

    @property
    def end_is_known(self) -> bool:
        """Whether clients may hear where the log ends."""
        return end_is_known(self.epoch_start_offset, self.log.high_watermark)

    def low_watermark(self) -> int:
        """The lowest log start among the replicas that are alive."""
        starts = [
            follower.log_start_offset
            for one, follower in self.followers.items()
            if (broker := self._around.brokers.get(one)) is not None and not broker.fenced
        ]
        return low_watermark(self.log.log_start_offset, starts)

    def shrink_isr(self) -> None:
        """Propose an ISR without those who have not kept up."""
        if not self.leads or self.proposed_isr is not None:
            return
        now, end = self._around.now_ms(), self.log.log_end_offset
        laggards = [
            one
            for one, follower in self.followers.items()
            if one in self.state.isr and not self._keeps_up(follower, end, now)
        ]
        if laggards:
            self._propose(tuple(one for one in self.state.isr if one not in laggards))

    def isr_decided(self, state: PartitionState | None) -> None:
        """The controller's answer to a proposal; None: it was refused, and the image will tell."""
        self.proposed_isr = None
        if state is not None and state.partition_epoch > self.state.partition_epoch:
            self._around.events.isr_changed(self, self.state.isr, state.isr)
            self.state = state
            self._commit()
        self.wake()

    def _maybe_expand(self, replica_id: int, follower: Follower) -> None:
        if self.proposed_isr is not None or replica_id in self.state.isr:
            return
        if may_join_isr(
            follower.log_end_offset,
            self.log.high_watermark,
            self.epoch_start_offset,
            self._eligible(replica_id, follower),
        ):
            self._propose((*self.state.isr, replica_id))

    def _propose(self, isr: tuple[int, ...]) -> None:
        self.proposed_isr = isr
        self._around.proposals.propose(self)

    def _eligible(self, replica_id: int, follower: Follower) -> bool:
        broker = self._around.brokers.get(replica_id)
        if broker is None or not broker.active or follower.broker_epoch is None:
            return False
        return follower.broker_epoch in (ANY_BROKER_EPOCH, broker.broker_epoch)

    def _keeps_up(self, follower: Follower, end: int, now_ms: int) -> bool:
        since = follower.since_caught_up_ms(now_ms)
        return caught_up(follower.log_end_offset, end, since, self._around.max_lag_ms)

    def _commit(self) -> None:
        if not self.leads:
            return
        end = self.log.log_end_offset
        views = self._views(end) if self.followers else ()
        current = self.log.high_watermark
        self.log.high_watermark = next_high_watermark(
            current, end, views, len(self.state.isr), self.min_in_sync
        )

    def _views(self, end: int) -> list[FollowerView]:
        now, maximal = self._around.now_ms(), self.maximal_isr
        return [
            FollowerView(
                log_end_offset=follower.log_end_offset,
                in_maximal_isr=one in maximal,
                caught_up=self._keeps_up(follower, end, now),
                eligible=self._eligible(one, follower),
            )
            for one, follower in self.followers.items()
        ]


_ANSWERS = {
    Ack.WAIT: None,
    Ack.DONE: ErrorCode.none,
    Ack.TOO_FEW: ErrorCode.not_enough_replicas_after_append,
}
