"""Reads the metadata topic for a broker, and keeps what it learned in local files.

One loop sees to it that the topic is there, follows what the broker was told of or leads, asks for
the ends of partitions, and has one task read from each leader. Whatever goes wrong on the way is
tried again: who leads is asked anew, after a while.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Final

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metrics.registry import COUNTER, Metric, Registry
from reference_impl.ports import Clock
from reference_impl.ports.log_lines import Lines, NodeLog
from reference_impl.replication.watching import Watched, until
from reference_impl.tiered.flat_file import MetadataFiles
from reference_impl.tiered.life_cycles import Outcome, described
from reference_impl.tiered.metadata import manager_follows
from reference_impl.tiered.records import BadRecord, decode_event
from reference_impl.tiered.segments import TopicIdPartition, partition_of
from reference_impl.tiered.topic_client import (
    METADATA_TOPIC,
    FetchedPartition,
    FetchedRecord,
    MetadataTopicClient,
)
from reference_impl.tiered.topic_settings import NUM_PARTITIONS, TopicMetadataSettings
from reference_impl.tiered.topic_state import TopicState

_TICK_S: Final = 0.25
_MAX_WAIT_MS: Final = 500
_NEWS: Final = "kafka.log.remote:type=TopicBasedRemoteLogMetadataManager,name="
_TROUBLE: Final = (ConnectionError, KafkaError, TimeoutError)

EVENTS_DROPPED = Metric(
    name=f"{_NEWS}EventsDroppedPerSec", kind=COUNTER, about="metadata events that were not applied"
)
RECORDS_SKIPPED = Metric(
    name=f"{_NEWS}RecordsSkippedPerSec", kind=COUNTER, about="metadata records that are no events"
)


class TopicConsumer:
    """See the module. ``led`` says which metadata partitions this broker leads."""

    def __init__(
        self,
        *,
        client: MetadataTopicClient,
        files: MetadataFiles,
        state: TopicState,
        settings: TopicMetadataSettings,
        led: Callable[[], Mapping[int, int]],
        clock: Clock,
        log: NodeLog,
        metrics: Registry,
    ) -> None:
        self.progress = Watched()  # wakes whenever something was applied, or became known
        self.refused: str | None = None
        self._state = state
        self._client = client
        self._files = files
        self._settings = settings
        self._led = led
        self._clock = clock
        self._log = log
        self._dropped = metrics.counter(EVENTS_DROPPED)
        self._skipped = metrics.counter(RECORDS_SKIPPED)
        self._told: dict[TopicIdPartition, None] = {}
        self._watchers: list[Callable[[TopicIdPartition], None]] = []
        self._poked = False
        self._pokes = Watched()
        self._ready = False
        self._committed: dict[int, int] | None = None
        self._written: dict[int, int] | None = None
        self._next_save_ns = 0
        self._readers: dict[int, asyncio.Task[None]] = {}

    # What is to be read.

    def follow(self, partitions: tuple[TopicIdPartition, ...]) -> None:
        """Read the events of these."""
        self._told.update(dict.fromkeys(partitions))
        self.poke()

    def unfollow(self, partitions: tuple[TopicIdPartition, ...]) -> None:
        """No longer."""
        for partition in partitions:
            self._told.pop(partition, None)
            self._state.unfollow(partition)
        self.progress.wake()

    def follows(self, partition: TopicIdPartition) -> bool:
        """Whether its events are read, or will be."""
        leads = self._state.number_of(partition) in self._led()
        return manager_follows(partition in self._told, leads)

    def watch(self, applied: Callable[[TopicIdPartition], None]) -> None:
        """Call this whenever what is known of a partition changed, and when it is initialised."""
        self._watchers.append(applied)

    def poke(self) -> None:
        """Look now what there is to do."""
        self._poked = True
        self._pokes.wake()

    # The loop.

    async def run(self) -> None:
        """Read until cancelled, or until it is clear that this topic cannot be read."""
        self._next_save_ns = self._clock.monotonic_ns() + self._settings.save_interval_ns
        try:
            while self.refused is None:
                self._poked = False
                try:
                    await self._round()
                    wait_s = _TICK_S
                except _TROUBLE as error:
                    self._client.forget_layout()
                    wait_s = self._settings.retry_s
                    if not self._ready:
                        why = str(error) or type(error).__name__
                        self._log(Lines.METADATA_TOPIC_NOT_READY, topic=METADATA_TOPIC, why=why)
                        await self._clock.sleep(wait_s)
                await until(lambda: self._poked, [self._pokes], timeout_s=wait_s)
        finally:
            for task in self._readers.values():
                task.cancel()
            for task in self._readers.values():
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def _round(self) -> None:
        led = self._led()
        if self._told or led or self._state.partitions:
            if not self._ready:
                await self._make_ready()
                if not self._ready:
                    return
            await self._follow_all(led)
            await self._read()
            await self._learn_ends()
        if self._clock.monotonic_ns() >= self._next_save_ns:
            await self.save(all_of_them=False)
            self._next_save_ns = self._clock.monotonic_ns() + self._settings.save_interval_ns

    async def _make_ready(self) -> None:
        """The topic is made by whichever broker needs it first (G-25), and never changed (G-24)."""
        layout = await self._client.layout()
        wanted = self._settings
        if layout is None:
            await self._client.create(
                partitions=wanted.partitions,
                replication_factor=wanted.replication_factor,
                retention_ms=wanted.retention_ms,
            )
            layout = await self._client.layout()
        if layout is None:
            raise KafkaError(ErrorCode.unknown_topic_or_partition, "it was created just now")
        if len(layout.leaders) != wanted.partitions:
            self.refused = f"{METADATA_TOPIC} does not have {wanted.partitions} partitions"
            self._log(
                Lines.METADATA_TOPIC_REFUSED,
                topic=METADATA_TOPIC,
                partitions=len(layout.leaders),
                name=NUM_PARTITIONS,
                wanted=wanted.partitions,
            )
            self.progress.wake()
            return
        self._ready = True

    async def _follow_all(self, led: Mapping[int, int]) -> None:
        if self._committed is None:
            self._committed = await self._files.load_committed() or {}
        for partition in list(self._told):
            user = self._state.user(partition)
            if user is not None and user.told:
                continue
            holds = self._state.holds(partition)
            kept = None if holds else await self._files.load(partition)
            if partition in self._told:
                committed = self._committed.get(self._state.number_of(partition))
                self._state.follow(partition, kept, committed)
        for number in led:
            self._state.follow_everything(number)
        for number, found in list(self._state.partitions.items()):
            if found.everything and number not in led:
                self._state.unfollow_everything(number)

    async def _learn_ends(self) -> None:
        known = self._state.numbers_without_end()
        trouble: BaseException | None = None
        for leader, numbers in (await self._leaders(list(known))).items():
            try:
                ends = await self._client.end_offsets(leader, numbers)
            except _TROUBLE as error:  # the other leaders are asked all the same
                trouble = error
                continue
            for number, end in ends.items():
                if known[number] > end:
                    self._log(Lines.METADATA_STARTED_OVER, topic=_named(number), end=end)
                self._state.end_known(number, end, known_up_to=known[number])
        self._announce()
        if trouble is not None:
            raise trouble

    async def _read(self) -> None:
        """Have a task read from each leader that leads something we follow."""
        for leader in await self._leaders(list(self._state.partitions)):
            task = self._readers.get(leader)
            if task is None or task.done():
                if task is not None:
                    task.result()
                loop = asyncio.get_running_loop()
                self._readers[leader] = loop.create_task(self._read_from(leader))

    async def _leaders(self, numbers: list[int]) -> dict[int, list[int]]:
        return await self._client.leaders(numbers) if numbers else {}

    async def _read_from(self, leader: int) -> None:
        """Read from one leader for as long as it leads something."""
        with contextlib.suppress(*_TROUBLE):
            while True:
                led = await self._leaders(list(self._state.partitions))
                positions = self._state.positions(led.get(leader, []))
                if not positions:
                    return
                answer = await self._client.fetch(leader, positions, max_wait_ms=_MAX_WAIT_MS)
                for number, fetched in answer.items():
                    self._take(number, positions[number], fetched)
        self._client.forget_layout()  # after a while the loop begins anew

    def _take(self, number: int, asked: int, fetched: FetchedPartition) -> None:
        found = self._state.partitions.get(number)
        if found is None or found.position != asked:
            return  # no longer followed, or from another offset on
        if fetched.error is ErrorCode.offset_out_of_range:
            if asked < fetched.log_start_offset:
                self._state.read_up_to(number, fetched.log_start_offset)
            else:
                end = fetched.high_watermark
                self._log(Lines.METADATA_STARTED_OVER, topic=_named(number), end=end)
                self._state.start_over(number, max(fetched.log_start_offset, 0))
                self.poke()
            return
        if fetched.error:
            raise KafkaError(fetched.error, _named(number))
        for record in fetched.records:
            self._take_record(number, record)
        self._state.read_up_to(number, fetched.next_offset)
        self._announce()

    def _take_record(self, number: int, record: FetchedRecord) -> None:
        try:
            event = decode_event(record.value)
            if self._state.number_of(partition_of(event)) != number:
                raise BadRecord(f"{partition_of(event)} belongs to another partition of the topic")
        except BadRecord as bad:
            self._state.take(number, record.offset, None)
            self._skipped.add()
            topic = _named(number)
            self._log(
                Lines.METADATA_RECORD_SKIPPED, topic=topic, offset=record.offset, why=str(bad)
            )
            return
        outcome = self._state.take(number, record.offset, event)
        if outcome is Outcome.APPLIED:
            for watcher in self._watchers:
                watcher(partition_of(event))
        elif outcome is not None and not outcome.succeeded:
            self._dropped.add()
            why = f"{outcome.value}: {described(event)}"
            self._log(
                Lines.METADATA_EVENT_DROPPED, topic=_named(number), offset=record.offset, why=why
            )

    def _announce(self) -> None:
        self.progress.wake()
        for partition in self._state.newly_initialised():
            for watcher in self._watchers:
                watcher(partition)

    async def end_of(self, partition: TopicIdPartition) -> int:
        """The end of the metadata partition of a user partition, now."""
        number = self._state.number_of(partition)
        led = await self._client.leaders([number])
        if not led:
            raise KafkaError(ErrorCode.leader_not_available, _named(number))
        return (await self._client.end_offsets(next(iter(led)), [number]))[number]

    # Files.

    async def save(self, *, all_of_them: bool) -> None:
        """Write the files of partitions that changed, or all that are behind; then the offsets."""
        try:
            committed: dict[int, int] = {}
            for number, found in list(self._state.partitions.items()):
                for user in list(found.users.values()):
                    upto = max(found.position, user.floor)
                    behind = all_of_them and user.written != upto
                    if user.changed or user.written is None or behind:
                        user.changed = False
                        try:
                            await self._files.store(user.cache, upto)
                        except OSError:
                            user.changed = True
                            raise
                        user.written = upto
                written = (user.written or 0 for user in found.users.values())
                committed[number] = min(written, default=found.position)
            if committed and committed != self._written:
                await self._files.store_committed(committed)
                self._written = committed
        except OSError as error:
            self._log(Lines.METADATA_NOT_WRITTEN, why=str(error))


def _named(number: int) -> str:
    return f"{METADATA_TOPIC}-{number}"
