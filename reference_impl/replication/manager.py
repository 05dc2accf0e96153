"""All partitions of one broker: opened, given their roles, followed, checkpointed, closed.

``apply`` carries out what the image says, one partition after the other. Logs that no longer
belong here are deleted; directories of another topic of the same name (another topic id) as well.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from uuid import UUID

from reference_impl.kafka.client import Peer
from reference_impl.kafka.errors import KafkaError
from reference_impl.log.checkpoints import read_file, replace_file
from reference_impl.log.config import LogConfig
from reference_impl.log.log import Log
from reference_impl.metadata.effective import BrokerLayers, topic_texts
from reference_impl.metadata.image import Image, PartitionState
from reference_impl.metadata.records import ResourceType
from reference_impl.ports import Address, Ports
from reference_impl.ports.log_lines import Lines
from reference_impl.replication import checkpoints
from reference_impl.replication.events import PartitionEvents
from reference_impl.replication.fetcher import Fetcher, FetcherSettings, KeptElsewhere
from reference_impl.replication.isr import IsrProposals
from reference_impl.replication.partition import BrokerContext, Partition
from reference_impl.replication.refusals import LeadershipRefusals
from reference_impl.replication.watching import Watched, until

Key = tuple[UUID, int]
PATIENCE_S = 30.0
PARTITION_METADATA = "partition.metadata"
PRODUCER_EXPIRATION = "producer.id.expiration.ms"
NEVER_MS = (1 << 63) - 1  # what Kafka writes for it


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicationSettings:
    """The broker's own settings of replication; times in milliseconds."""

    broker_id: int
    max_lag_ms: int = 30_000
    checkpoint_interval_ms: int = 5_000
    retention_check_interval_ms: int = 300_000
    producer_check_interval_ms: int = 600_000
    flush_check_interval_ms: int = NEVER_MS
    fetcher: FetcherSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class _TopicConfig:
    log: LogConfig
    min_insync_replicas: int


class ReplicaManager:
    """Owns the partitions of a broker and everything that runs for them."""

    def __init__(
        self,
        *,
        ports: Ports,
        image: Image,
        settings: ReplicationSettings,
        controller: Peer,
        broker_epoch: Callable[[], int],
        layers: Callable[[], BrokerLayers],
        elsewhere: KeptElsewhere,
        events: PartitionEvents | None = None,
    ) -> None:
        self._ports = ports
        self._image = image
        self._settings = settings
        self._broker_epoch = broker_epoch
        self._layers = layers
        self._elsewhere = elsewhere
        self._partitions: dict[Key, Partition] = {}
        self._fetchers: dict[int, tuple[Address, Fetcher, Peer, asyncio.Task[None]]] = {}
        self.background: list[asyncio.Task[None]] = []  # none of them ends while all is well
        self.epoch_before = -1  # the broker's epoch in its last life, if that ended cleanly
        self._applying = self._clean = False
        self._complete = False  # every log is open that the image wants here
        self._applied = Watched()
        self._configs: dict[object, _TopicConfig] = {}
        self._warned: dict[str, None] = {}  # of tiered topics, without tiered storage
        self._checkpoints = checkpoints.Checkpoints(ports.disk, self._logs)
        self._proposals = IsrProposals(
            controller=controller,
            broker_id=settings.broker_id,
            broker_epoch=broker_epoch,
            brokers=image.brokers,
            clock=ports.clock,
        )
        self.refusals = LeadershipRefusals(
            controller=controller,
            broker_id=settings.broker_id,
            broker_epoch=broker_epoch,
            clock=ports.clock,
        )
        self._around = BrokerContext(
            broker_id=settings.broker_id,
            clock=ports.clock,
            brokers=image.brokers,
            proposals=self._proposals,
            max_lag_ms=settings.max_lag_ms,
            hand_over=self.refusals.hand_over,
            events=events or PartitionEvents(),
        )

    # ── lookups ──────────────────────────────────────────────────────────────────────────────────

    async def opened(self, topic: str, index: int) -> None:
        """Return once the replica is open, if this broker is about to open one."""

        def about_to() -> bool:
            found = self._image.topics.get(topic)
            state = None if found is None else found.partitions.get(index)
            if found is None or state is None or (found.topic_id, index) in self._partitions:
                return False
            return self._applying and self._settings.broker_id in state.replicas

        while about_to():
            await until(lambda: not self._applying, [self._applied], timeout_s=PATIENCE_S)

    def replica(self, key: Key) -> Partition | None:
        """This broker's replica of a partition, if it has one and its log is open."""
        return self._partitions.get(key)

    def partitions(self) -> Iterable[Partition]:
        """All of them, in the order in which they came."""
        return tuple(self._partitions.values())

    # ── life ─────────────────────────────────────────────────────────────────────────────────────

    async def start(self) -> None:
        """Read the checkpoints and start what runs in the background."""
        disk = self._ports.disk
        await disk.sync_directory()  # or what is found here may be another file after a power loss
        marker = await read_file(disk, checkpoints.CLEAN_SHUTDOWN)
        self._clean = marker is not None
        self.epoch_before = checkpoints.epoch_in(marker)
        await self._checkpoints.load()
        if self._clean:
            await disk.remove(checkpoints.CLEAN_SHUTDOWN)
            await disk.sync_directory()
        settings = self._settings
        self._begin(self._proposals.run())
        self._begin(self._every(settings.checkpoint_interval_ms, self._checkpoints.write))
        self._begin(self._every(settings.retention_check_interval_ms, self._retain))
        self._begin(self._every(settings.producer_check_interval_ms, self._forget_producers))
        self._begin(self._every(settings.flush_check_interval_ms, self._flush))
        self._begin(self._every(max(1, settings.max_lag_ms // 2), self._shrink))

    async def stop(self, *, clean: bool, caught_up: bool) -> None:
        """End everything; a clean stop leaves the marker that makes the next start quick.

        Not if a log is out of service, nor if one that this life did not open may not be clean:
        a broker that has not ``caught_up`` does not know which belong to it.
        """
        for task in [*self.background, *(task for *_, task in self._fetchers.values())]:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self.refusals.close()
        for _, _, peer, _ in self._fetchers.values():
            await peer.close()
        for partition in self._partitions.values():
            await partition.log.close(clean=clean)
        if clean:
            await self._checkpoints.write()
            sound = all(one.log.failure is None for one in self._partitions.values())
            if sound and (self._clean or (caught_up and self._complete)):
                marker = checkpoints.marker_of(self._broker_epoch())
                await replace_file(self._ports.disk, checkpoints.CLEAN_SHUTDOWN, marker)

    async def write_checkpoints(self) -> None:
        """Write down, for good, how the logs are."""
        await self._checkpoints.write()

    # ── roles ────────────────────────────────────────────────────────────────────────────────────

    async def apply(self) -> None:
        """Become what the image says, for all partitions, and follow whom it names."""
        self._applying = True
        try:
            await self._apply()
        finally:
            self._applying = False
            self._applied.wake()

    async def _apply(self) -> None:
        wanted: dict[Key, tuple[str, PartitionState]] = {}
        for topic, index, state in self._image.partitions():
            if self._settings.broker_id in state.replicas:
                wanted[topic.topic_id, index] = (topic.name, state)
        self._complete = self._partitions.keys() >= wanted.keys()
        for key in [key for key in self._partitions if key not in wanted]:
            await self._drop(key)
        for key, (topic_name, state) in wanted.items():
            partition = self._partitions.get(key) or await self._open(topic_name, *key)
            config = self._config(topic_name)
            partition.min_insync_replicas = config.min_insync_replicas
            partition.log.config = config.log
            partition.log.older_elsewhere = self._elsewhere.older(topic_name)
            partition.log.older_unreachable = self._unreachable(topic_name)
            await partition.take(state)
            self._partitions[key] = partition
            self._checkpoints.opened((topic_name, partition.index))
        self._complete = True
        self._follow()

    def _unreachable(self, topic: str) -> bool:
        found = self._elsewhere.unreachable(topic)
        if found and topic not in self._warned:
            self._warned[topic] = None
            self._ports.log(Lines.TIERING_OFF, topic=topic)
        return found

    async def _drop(self, key: Key) -> None:
        partition = self._partitions.pop(key)
        await partition.take(_gone(partition.state))
        await partition.log.delete()

    async def _open(self, topic: str, topic_id: UUID, index: int) -> Partition:
        directory = f"{topic}-{index}"
        await self._claim(directory, topic_id, (topic, index))
        found = self._checkpoints.found((topic, index))
        log = await Log.open(
            self._ports.disk,
            directory,
            config=self._config(topic).log,
            clock=self._ports.clock,
            clean=self._clean,
            log_start_offset=found[checkpoints.LOG_STARTS],
            recovery_point=found[checkpoints.RECOVERY_POINTS],
            older_elsewhere=self._elsewhere.older(topic),
            workers=self._ports.workers,
        )
        committed = found[checkpoints.HIGH_WATERMARKS]
        log.high_watermark = max(log.log_start_offset, min(committed, log.log_end_offset))
        return Partition(
            topic=topic, topic_id=topic_id, index=index, log=log, surroundings=self._around
        )

    async def _claim(self, directory: str, topic_id: UUID, where: checkpoints.Where) -> None:
        """Make a directory this topic's; if it was not, what another left of its log is gone."""
        disk, path = self._ports.disk, f"{directory}/{PARTITION_METADATA}"
        mine = f"version: 0\ntopic_id: {topic_id}\n".encode()
        if await read_file(disk, path) == mine:
            return
        await self._checkpoints.forget(where)
        for name in await disk.names(directory):
            await disk.remove(f"{directory}/{name}")
        await replace_file(disk, path, mine)

    def _config(self, topic: str) -> _TopicConfig:
        """What a topic asks of its partitions here; worked out once for all topics alike."""
        own, layers = self._image.config(ResourceType.TOPIC, topic), self._layers()
        said = tuple(tuple(one.items()) for one in (own, layers.dynamic, layers.cluster))
        if said not in self._configs:
            texts = topic_texts(own, layers)
            texts[PRODUCER_EXPIRATION] = str(layers.number(PRODUCER_EXPIRATION))
            self._configs[said] = _TopicConfig(
                log=LogConfig.of(texts), min_insync_replicas=int(texts["min.insync.replicas"])
            )
        return self._configs[said]

    def _follow(self) -> None:
        leaders: list[int] = []
        for partition in self._partitions.values():
            leader = partition.state.leader
            if leader >= 0 and not partition.leads and leader not in leaders:
                leaders.append(leader)
        for leader in leaders:
            broker = self._image.brokers.get(leader)
            if broker is None:
                continue
            address = Address(broker.host, broker.port)
            known = self._fetchers.get(leader)
            if known is not None and known[0] != address:
                known[3].cancel()
                known = None
            if known is None:
                self._fetchers[leader] = self._fetcher(leader, address)
        for _, fetcher, _, _ in self._fetchers.values():
            fetcher.roles_changed()

    def _fetcher(
        self, leader: int, address: Address
    ) -> tuple[Address, Fetcher, Peer, asyncio.Task[None]]:
        client_id = f"broker-{self._settings.broker_id}-fetcher-0"

        def connect() -> Peer:
            return Peer(self._ports.network, address, client_id)

        def following() -> Iterable[Partition]:
            led = [one for one in self._partitions.values() if one.state.leader == leader]
            # One that is out of service must not look as if it were in sync.
            return [one for one in led if one.log.failure is None]

        peer = connect()
        fetcher = Fetcher(
            peer=peer,
            connect=connect,
            settings=self._settings.fetcher,
            clock=self._ports.clock,
            partitions=following,
            broker_epoch=self._broker_epoch,
            elsewhere=self._elsewhere,
        )
        return address, fetcher, peer, asyncio.get_running_loop().create_task(fetcher.run())

    # ── background ───────────────────────────────────────────────────────────────────────────────

    def _logs(self) -> dict[tuple[str, int], Log]:
        return {(one.topic, one.index): one.log for one in self._partitions.values()}

    async def _retain(self) -> None:
        for partition in self.partitions():
            with contextlib.suppress(KafkaError):  # out of service: whoever asks for it is told
                await partition.log.delete_old_segments()

    async def _forget_producers(self) -> None:
        for partition in self.partitions():
            partition.log.expire_producers()

    async def _flush(self) -> None:
        for partition in self.partitions():
            with contextlib.suppress(KafkaError):  # as above
                await partition.log.flush_if_due()

    async def _shrink(self) -> None:
        for partition in self.partitions():
            partition.shrink_isr()

    async def _every(self, interval_ms: int, work: Callable[[], Awaitable[None]]) -> None:
        while interval_ms < NEVER_MS:
            await self._ports.clock.sleep(interval_ms / 1000)
            await work()

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        self.background.append(asyncio.get_running_loop().create_task(work))


def _gone(state: PartitionState) -> PartitionState:
    """What a replica takes for its state when it is no longer one."""
    return PartitionState(
        replicas=state.replicas,
        isr=(),
        leader=-1,
        leader_epoch=state.leader_epoch,
        partition_epoch=state.partition_epoch + 1,
    )
