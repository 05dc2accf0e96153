"""The offsets that groups commit: kept by the broker that leads their group's partition.

    OffsetCommit    ─► append to __consumer_offsets ─► committed: it counts, and is answered
    TxnOffsetCommit ─► append within the transaction ─► committed: it is pending
    WriteTxnMarkers ─► append the marker             ─► committed: what was pending counts, or not

Changes take effect in the order of the log, once they are committed. All of it is in the log: a
broker that takes over reads it and knows what is pending and what counts. What is kept no longer
(``offset_retention.py``) is taken away by records, too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from reference_impl.coordinators.compaction import append_again, begin_there, is_worth_it
from reference_impl.coordinators.offset_records import (
    OffsetKey,
    OffsetValue,
    key_of,
    read_key,
    read_value,
    value_of,
)
from reference_impl.coordinators.offset_retention import (
    DeletedTopic,
    Retention,
    expired,
    of_deleted,
)
from reference_impl.coordinators.offset_state import NO_PRODUCER_ID, OffsetState
from reference_impl.coordinators.placement import CONSUMER_OFFSETS, coordinated_by
from reference_impl.coordinators.transaction_log import coordinator_error
from reference_impl.coordinators.transactions import NO_PRODUCER_EPOCH, ProducerIdEpoch
from reference_impl.coordinators.whole_log import whole_log
from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import build_batch, records
from reference_impl.log.log import Log
from reference_impl.log.transactions import EndMarker, read_marker
from reference_impl.log.verification import NO_GUARD
from reference_impl.metadata.image import Image
from reference_impl.metadata.records import MetadataRecord, TopicDeleted
from reference_impl.partitions.catalog import Partitions
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.writing import Ended, Pending, acknowledged
from reference_impl.ports import Clock

ALL = -1
NO_PRODUCER = ProducerIdEpoch(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)
Change = tuple[OffsetKey, OffsetValue | None]
"""An offset, None where it is to go."""
_RETRY_S = 0.1


class Unsettled(NamedTuple):
    """A change that is in the log, and takes effect once it is committed."""

    pending: Pending
    apply: Callable[[OffsetState, int], None]  # given the offset of its first record


@dataclass(slots=True, kw_only=True, eq=False)
class LedOffsets:
    """A partition that this broker leads, in one leader epoch."""

    index: int
    epoch: int
    state: OffsetState = field(default_factory=OffsetState)
    unsettled: deque[Unsettled] = field(default_factory=deque)
    turn: asyncio.Lock  # of all epochs: who reads the log waits for appends of the one before
    loaded: bool = False

    def settle(self) -> None:
        """Let everything take effect that is committed by now."""
        while self.unsettled:
            ended = self.unsettled[0].pending.decided()
            if ended is None:
                return
            change = self.unsettled.popleft()
            if takes_effect(ended.error):
                change.apply(self.state, ended.base_offset)


@decision("appended-change-takes-effect")
def takes_effect(error: ErrorCode) -> bool:
    """A change is so once it is committed, also where its client hears that there are too few
    replicas by then; one that leads no more does not know."""
    return error in (ErrorCode.none, ErrorCode.not_enough_replicas_after_append)


@decision("coordinator-not-loaded")
def not_loaded(leads: bool) -> ErrorCode:
    """Who is to lead will know the offsets soon: clients need not look for another."""
    return ErrorCode.coordinator_load_in_progress if leads else ErrorCode.not_coordinator


class OffsetCoordinator:
    """See the module. Its calls raise a KafkaError where they are refused."""

    def __init__(
        self,
        *,
        broker_id: int,
        partitions: Partitions,
        image: Image,
        clock: Clock,
        timeout_s: Callable[[], float],
        retention: Callable[[], Retention],
    ) -> None:
        self._broker_id = broker_id
        self._partitions = partitions
        self._image = image
        self._clock = clock
        self._timeout_s = timeout_s  # how long a commit waits for the replicas
        self._retention = retention
        self._deleted: list[DeletedTopic] = []  # since roles were looked at last
        self._led: dict[int, LedOffsets] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self._tasks: dict[asyncio.Task[None], None] = {}
        image.watch(self._applied)

    # ── what this broker coordinates ─────────────────────────────────────────────────────────────

    async def roles_changed(self) -> None:
        """Begin with what this broker leads now, and let go of what it does not."""
        topic = self._image.topics.get(CONSUMER_OFFSETS)
        led: dict[int, LedOffsets] = {}
        for index in () if topic is None else topic.partitions:
            partition = await self._partitions.find(CONSUMER_OFFSETS, index)
            if partition.leads:
                led[index] = self._led_in(index, partition.state.leader_epoch)
        before, self._led = self._led, led
        for index, one in led.items():
            if before.get(index) is not one:
                self._begin(self._load(one))
        deleted, self._deleted = self._deleted, []
        for one in led.values() if deleted else ():
            if one.loaded:
                self._begin(self._take_away(one, of_deleted(one.state, deleted)))

    def _applied(self, record: MetadataRecord) -> None:
        if isinstance(record, TopicDeleted):
            self._deleted.append(DeletedTopic(record.name, record.topic_id))

    async def run(self) -> None:
        """Take away what is too old, until cancelled."""
        while True:
            await self._clock.sleep(self._retention().check_interval_ms / 1000)
            now_ms, keep_ms = self._clock.now_ms(), self._retention().keep_ms
            for led in [one for one in self._led.values() if one.loaded]:
                led.settle()
                await self._take_away(led, expired(led.state, now_ms, keep_ms))
                led.state.forget_groups()
                self._begin(self._compact(led))

    async def _compact(self, led: LedOffsets) -> None:
        """Let the log say what counts and nothing else, where that is worth it. Not while offsets
        are pending: whether they count depends on where in the log they are."""
        try:
            partition = await self._partitions.find(CONSUMER_OFFSETS, led.index)
            replica, state = partition.replica, led.state
            if replica is None:
                return
            async with led.turn:
                led.settle()
                if led.unsettled or state.pending or not self._is_current(led):
                    return
                if not is_worth_it(replica.log, len(state.committed)):
                    return
                first, now_ms = replica.log.log_end_offset, self._clock.now_ms()
                known = state.committed.items()
                live = [(key_of(key), value_of(stored.value)) for key, stored in known]
                appended = await append_again(
                    partition, live, now_ms=now_ms, leader_epoch=led.epoch
                )
            await begin_there(replica.log, first, appended, timeout_s=self._timeout_s())
        except KafkaError:
            return  # who leads now does it, or the next look

    async def _take_away(self, led: LedOffsets, keys: Sequence[OffsetKey]) -> None:
        try:
            if keys:
                gone = [(key, None) for key in keys]
                await self._write(led, keys[0].group, gone, None, NO_GUARD)
        except KafkaError:
            return  # who leads now does it, or the next look

    def _led_in(self, index: int, epoch: int) -> LedOffsets:
        known = self._led.get(index)
        if known is not None and known.epoch == epoch:
            return known
        turn = self._turns.setdefault(index, asyncio.Lock())
        return LedOffsets(index=index, epoch=epoch, turn=turn)

    async def _load(self, led: LedOffsets) -> None:
        while self._is_current(led):
            try:
                partition = await self._partitions.find(CONSUMER_OFFSETS, led.index)
                if partition.replica is None:
                    raise KafkaError(ErrorCode.not_leader_or_follower)
                log, state = partition.replica.log, OffsetState()
                async with led.turn:
                    end = await _replay(log, state)
                # What it found may be told once no other leader can do without it.
                while log.high_watermark < end and self._is_current(led):
                    await self._clock.sleep(_RETRY_S)
                led.state, led.loaded = state, True
                break
            except KafkaError:
                await self._clock.sleep(_RETRY_S)

    def _is_current(self, led: LedOffsets) -> bool:
        return self._led.get(led.index) is led

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    def close(self) -> None:
        """End what runs in the background."""
        for task in list(self._tasks):
            task.cancel()

    def _loaded(self, index: int) -> LedOffsets:
        led = self._led.get(index)
        if led is None or not led.loaded:
            named = self._image.partition(CONSUMER_OFFSETS, index)
            leads = named is not None and named.leader == self._broker_id
            raise KafkaError(not_loaded(leads))
        led.settle()
        return led

    def partition_of(self, group: str) -> int | None:
        """The partition of a group; None as long as there are none."""
        topic = self._image.topics.get(CONSUMER_OFFSETS)
        return None if topic is None else coordinated_by(group, len(topic.partitions))

    def _coordinated(self, group: str) -> LedOffsets:
        index = self.partition_of(group)
        if index is None:
            raise KafkaError(ErrorCode.not_coordinator)
        return self._loaded(index)

    # ── requests ─────────────────────────────────────────────────────────────────────────────────

    def state(self, group: str) -> OffsetState:
        """What is known of a group's offsets, as far as it is committed."""
        return self._coordinated(group).state

    async def settled(self, group: str) -> OffsetState:
        """The same once everything is committed that was appended before."""
        led = self._coordinated(group)
        waits = [one.pending for one in led.unsettled]
        ended = await acknowledged(waits, timeout_s=self._timeout_s()) if waits else []
        if any(not takes_effect(one.error) for one in ended):
            raise KafkaError(ErrorCode.not_coordinator)
        return self.state(group)

    async def partition(self, group: str) -> LogicalPartition:
        """The partition of a group that this broker coordinates."""
        led = self._coordinated(group)
        return await self._partitions.find(CONSUMER_OFFSETS, led.index)

    async def commit(
        self,
        group: str,
        offsets: Sequence[Change],
        producer: ProducerIdEpoch | None = None,
        guard: int = NO_GUARD,
    ) -> None:
        """Write offsets of a group; within a producer's transaction, under the guard with which
        its coordinator was asked about it."""
        await self._write(self._coordinated(group), group, offsets, producer, guard)

    async def _write(
        self,
        led: LedOffsets,
        group: str,
        offsets: Sequence[Change],
        producer: ProducerIdEpoch | None,
        guard: int,
    ) -> None:
        if not offsets:
            led.state.begin(group)
            return
        now_ms = self._clock.now_ms()
        entries = [
            (now_ms, key_of(key), None if value is None else value_of(value))
            for key, value in offsets
        ]
        producer_id, epoch = NO_PRODUCER if producer is None else producer
        batch = build_batch(
            entries,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=0,  # always, as Kafka's coordinators have it
            transactional=producer is not None,
        )
        try:
            partition = await self._partitions.find(CONSUMER_OFFSETS, led.index)
            ended = await self._appended(
                led,
                lambda: partition.append(
                    batch, acks=ALL, guard=guard, sequenced=False, leader_epoch=led.epoch
                ),
                partial(_replay_changes, producer_id=producer_id, changes=tuple(offsets)),
            )
        except KafkaError as error:
            raise KafkaError(coordinator_error(error.code)) from None
        if ended.error is not ErrorCode.none:
            raise KafkaError(coordinator_error(ended.error))

    async def append_marker(
        self,
        partition: LogicalPartition,
        producer: ProducerIdEpoch,
        marker: EndMarker,
        *,
        bumps: bool,
    ) -> Pending:
        """End a producer's transaction: its offsets count, or not, once that is committed."""
        try:
            led = self._loaded(partition.index)
        except KafkaError:
            raise KafkaError(ErrorCode.not_leader_or_follower) from None
        return await self._append(
            led,
            lambda: partition.append_marker(*producer, marker, bumps=bumps),
            lambda state, _: state.replay_marker(producer.producer_id, marker.committed),
        )

    # ── changes ──────────────────────────────────────────────────────────────────────────────────

    async def _append(
        self,
        led: LedOffsets,
        append: Callable[[], Awaitable[Pending]],
        apply: Callable[[OffsetState, int], None],
    ) -> Pending:
        async with led.turn:
            if not self._is_current(led):
                raise KafkaError(ErrorCode.not_leader_or_follower)
            pending = await append()
            led.unsettled.append(Unsettled(pending, apply))
        return pending

    async def _appended(
        self,
        led: LedOffsets,
        append: Callable[[], Awaitable[Pending]],
        apply: Callable[[OffsetState, int], None],
    ) -> Ended:
        pending = await self._append(led, append, apply)
        (ended,) = await acknowledged([pending], timeout_s=self._timeout_s())
        led.settle()
        return ended


def _replay_changes(
    state: OffsetState,
    base_offset: int,
    *,
    producer_id: int,
    changes: Sequence[Change],
) -> None:
    for at, (key, value) in enumerate(changes):
        state.replay(base_offset + at, producer_id, key, value)


async def _replay(log: Log, state: OffsetState) -> int:
    """Learn what the log says, up to its end, which is returned."""
    end = log.log_start_offset
    async for data, at, batch in whole_log(log):
        end = batch.next_offset
        if batch.control:
            marker = read_marker(data, at)
            if marker is not None:
                state.replay_marker(batch.producer_id, marker.committed)
            continue
        for record in records(data, at):
            key = read_key(record.key or b"")
            value = None if record.value is None else read_value(record.value)
            if key is not None and (value is not None or record.value is None):
                state.replay(record.offset, batch.producer_id, key, value)
    return end
