"""The metadata manager on the internal topic ``__remote_log_metadata``, the document's default.

An event goes to the partition of the topic that its user partition belongs to, acknowledged by all
replicas in sync; the call returns when this broker's own reader has come to it, and says what
became of it there. So all brokers agree, whatever the order in which they asked.

    publish ─► Produce, acks=all ─► leader of the metadata partition
                                          │ Fetch
    look-up ◄── SegmentCache ◄── TopicState ◄── TopicConsumer ──► local files

A refusal is tried again with the leader of that moment. Where no answer came, the event may be
there or not: that is ``MetadataUnavailable``, and repeating the call is harmless.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.partitions.catalog import StorageContext
from reference_impl.ports import Address
from reference_impl.replication.watching import until
from reference_impl.tiered.cached_metadata import CachedMetadataManager
from reference_impl.tiered.flat_file import MetadataFiles
from reference_impl.tiered.life_cycles import tell_publisher
from reference_impl.tiered.metadata import MetadataUnavailable, NotInitialised
from reference_impl.tiered.records import encode_event
from reference_impl.tiered.segment_cache import SegmentCache
from reference_impl.tiered.segments import (
    MetadataEvent,
    TopicIdPartition,
    partition_of,
)
from reference_impl.tiered.topic_client import METADATA_TOPIC, MetadataTopicClient
from reference_impl.tiered.topic_consumer import TopicConsumer
from reference_impl.tiered.topic_settings import TopicMetadataSettings
from reference_impl.tiered.topic_state import TopicState

# Answers of a broker that appended nothing.
_NOT_APPENDED: Final = (
    ErrorCode.not_leader_or_follower,
    ErrorCode.leader_not_available,
    ErrorCode.unknown_topic_or_partition,
    ErrorCode.unknown_topic_id,
    ErrorCode.not_enough_replicas,
    ErrorCode.fenced_leader_epoch,
)


class TopicBasedMetadataManager(CachedMetadataManager):
    """See the module. ``configure`` is called while the event loop runs: it begins to read."""

    def __init__(self, context: StorageContext) -> None:
        self._context = context
        self._closed = False
        self._reading: asyncio.Task[None] | None = None
        self.settings = TopicMetadataSettings()
        self._state = TopicState(self._number_of)
        self._client = MetadataTopicClient(
            context.ports, self._bootstrap, f"remote-log-metadata-{context.broker_id}"
        )
        self._consumer: TopicConsumer | None = None

    def configure(self, configs: Mapping[str, str]) -> None:
        """See the interface."""
        self.settings = TopicMetadataSettings.of(configs)
        self._client.producer, self._client.consumer = (
            self.settings.producer,
            self.settings.consumer,
        )
        self._consumer = TopicConsumer(
            client=self._client,
            files=MetadataFiles(self._context.ports.disk),
            state=self._state,
            settings=self.settings,
            led=self._led,
            clock=self._context.ports.clock,
            log=self._context.ports.log,
            metrics=self._context.metrics,
        )
        self._reading = asyncio.get_running_loop().create_task(self._consumer.run())
        self._reading.add_done_callback(_report_failure)

    # Publishing.

    async def _publish(self, event: MetadataEvent) -> None:
        partition = partition_of(event)
        self._require(partition)
        number, consumer = self._number_of(partition), self._running()
        with self._state.expecting(number) as seen:
            offset = await self._append(number, encode_event(event))
            await until(
                lambda: offset in seen or self._closed,
                [consumer.progress],
                timeout_s=self.settings.publish_timeout_s,
            )
            found = seen.get(offset)
        if found is None or found.event != event or found.outcome is None:
            raise MetadataUnavailable(f"offset {offset} of {METADATA_TOPIC}-{number} was not read")
        tell_publisher(event, found.outcome)

    async def _append(self, number: int, value: bytes) -> int:
        """Append a record to a partition of the topic, whichever broker leads it; its offset."""
        clock = self._context.ports.clock
        deadline_ns = clock.monotonic_ns() + int(self.settings.publish_timeout_s * 1e9)
        while True:
            try:
                return await self._client.produce(number, value)
            except ConnectionError as error:
                self._client.forget_layout()
                raise MetadataUnavailable(f"{METADATA_TOPIC}-{number}: {error}") from error
            except KafkaError as error:
                self._client.forget_layout()
                over = clock.monotonic_ns() >= deadline_ns or self._closed
                if error.code not in _NOT_APPENDED or over:
                    raise MetadataUnavailable(f"{METADATA_TOPIC}-{number}: {error}") from error
            await clock.sleep(self.settings.retry_s)

    # Looking up.

    def metadata_leader_epoch(self, partition: TopicIdPartition) -> int | None:
        """See the interface."""
        return self._led().get(self._number_of(partition))

    def known_partitions(self) -> tuple[TopicIdPartition, ...]:
        """See the interface."""
        followed = (one.users.items() for one in self._state.partitions.values())
        return tuple(
            sorted(key for users in followed for key, user in users if user.cache.has_events)
        )

    # Following.

    def on_partition_leadership_changes(
        self, leaders: Sequence[TopicIdPartition], followers: Sequence[TopicIdPartition]
    ) -> None:
        """See the interface."""
        self._running().follow((*leaders, *followers))

    def on_stop_partitions(self, partitions: Sequence[TopicIdPartition]) -> None:
        """See the interface."""
        self._running().unfollow(tuple(partitions))

    def is_initialised(self, partition: TopicIdPartition) -> bool:
        """See the interface."""
        return not self._closed and self._state.is_initialised(partition)

    async def caught_up(self, partition: TopicIdPartition) -> None:
        """See the interface."""
        consumer = self._running()
        if self._closed or consumer.refused or not consumer.follows(partition):
            raise NotInitialised(consumer.refused or f"{partition} is not followed here")
        consumer.poke()
        await self._until(partition, lambda: self.is_initialised(partition))
        try:
            end = await consumer.end_of(partition)
        except (ConnectionError, KafkaError) as error:
            self._client.forget_layout()
            raise MetadataUnavailable(f"{METADATA_TOPIC} does not answer: {error}") from error
        await self._until(
            partition,
            lambda: self.is_initialised(partition) and self._state.applied_up_to(partition) >= end,
        )

    async def _until(self, partition: TopicIdPartition, reached: Callable[[], bool]) -> None:
        consumer = self._running()

        def over() -> bool:
            left = self._closed or not consumer.follows(partition)
            return left or consumer.refused is not None or reached()

        timeout_s = self.settings.publish_timeout_s
        await until(over, [consumer.progress], timeout_s=timeout_s)
        if self._closed or not reached():
            raise MetadataUnavailable(consumer.refused or f"{partition} is not all read yet")

    def watch(self, applied: Callable[[TopicIdPartition], None]) -> None:
        """See the interface."""
        self._running().watch(applied)

    async def close(self) -> None:
        """See the interface."""
        if self._closed:
            return
        self._closed = True
        if self._reading is not None and self._consumer is not None:
            self._consumer.progress.wake()
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading
            await self._consumer.save(all_of_them=True)
        await self._client.close()

    # What it rests on.

    def _bootstrap(self) -> Address:
        return self.settings.bootstrap or self._context.listening()

    def _number_of(self, partition: TopicIdPartition) -> int:
        return self.settings.partitioner(partition, self.settings.partitions)

    def _led(self) -> Mapping[int, int]:
        """The metadata partitions that this broker leads, and in which leader epochs."""
        topic = self._context.image.topics.get(METADATA_TOPIC)
        if topic is None:
            return {}
        return {
            number: state.leader_epoch
            for number, state in topic.partitions.items()
            if state.leader == self._context.broker_id
        }

    def _running(self) -> TopicConsumer:
        if self._consumer is None:
            raise NotInitialised("the metadata manager is not configured yet")
        return self._consumer

    def _require(self, partition: TopicIdPartition) -> SegmentCache:
        if not self.is_initialised(partition):
            refused = self._consumer.refused if self._consumer is not None else None
            raise NotInitialised(refused or f"the segments of {partition} are not all known yet")
        user = self._state.user(partition)
        return SegmentCache(partition) if user is None else user.cache


def _report_failure(reading: asyncio.Task[None]) -> None:
    if not reading.cancelled() and (error := reading.exception()) is not None:
        context = {"message": "reading remote metadata failed", "exception": error}
        reading.get_loop().call_exception_handler(context)
