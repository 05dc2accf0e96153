"""All partitions that a broker knows, with their replicas, stores and authorities.

The image says which partitions there are; `apply` brings replicas to what it says, gives every
partition its state and replica, and tells participants what changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.effective import BrokerLayers, is_tiered
from reference_impl.metadata.image import Image
from reference_impl.metadata.records import ResourceType
from reference_impl.metrics.registry import Registry
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.participants import (
    BoundaryMoved,
    Configured,
    Deleted,
    Event,
    Participant,
    Participants,
    RoleChanged,
    Started,
    Stopped,
)
from reference_impl.partitions.refreshing import Authority
from reference_impl.partitions.stores import LocalStore, Store
from reference_impl.partitions.views import RegionKind, Role
from reference_impl.ports import Address, Ports
from reference_impl.replication.fetcher import KeptElsewhere
from reference_impl.replication.manager import ReplicaManager
from reference_impl.replication.partition import Partition

Key = tuple[UUID, int]


class Storage(Protocol):
    """What a design adds to a broker: a participant, and what reads and knows its regions."""

    @property
    def participant(self) -> Participant:
        """Hears what happens to partitions, and extends them."""
        ...

    @property
    def elsewhere(self) -> KeptElsewhere:
        """What replicas are told of offsets that it keeps."""
        ...

    @property
    def stores(self) -> Mapping[RegionKind, Store]:
        """What reads its regions."""
        ...

    @property
    def authorities(self) -> Mapping[RegionKind, Authority]:
        """What knows their bounds."""
        ...

    async def stop(self, *, clean: bool) -> None:
        """End at once what runs for it; ``clean``: also write down what spares the next start."""
        ...


async def no_checkpoint() -> None:
    """Where there are no logs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageContext:
    """What the storage of one broker is made from.

    ``image`` is what the broker knows of the cluster, and changes; ``layers`` gives its
    configuration as it is now. ``listening`` is where it answers, once it does: a storage that
    talks to its own broker asks when it is told of the first partition. ``checkpoint`` writes down,
    for good, where the logs start.
    """

    ports: Ports
    broker_id: int
    cluster_id: str
    log_dir: str
    image: Image
    layers: Callable[[], BrokerLayers]
    metrics: Registry
    listening: Callable[[], Address]
    checkpoint: Callable[[], Awaitable[None]] = no_checkpoint


StorageFactory = Callable[[StorageContext], Storage]
"""Makes the storage of one broker."""


def kept_elsewhere(storages: Sequence[Storage], image: Image) -> KeptElsewhere:
    """What replicas are told, by whichever storage has something to say of a topic.

    What a tiered topic has elsewhere is out of reach if no storage speaks for it (C-39).
    """
    told = [one.elsewhere for one in storages]

    def older(topic: str) -> bool:
        return any(one.older(topic) for one in told)

    def unreachable(topic: str) -> bool:
        return not older(topic) and is_tiered(image.config(ResourceType.TOPIC, topic))

    def boundary_of(replica: Partition) -> int | None:
        known = [one.boundary_of(replica) for one in told]
        return next((one for one in known if one is not None), None)

    return KeptElsewhere(
        older=lambda topic: older(topic) or unreachable(topic),
        unreachable=unreachable,
        remote_aux=next((one.remote_aux for one in told if one.remote_aux is not None), None),
        boundary_of=boundary_of,
    )


class Partitions:
    """See the module."""

    def __init__(
        self,
        *,
        image: Image,
        broker_id: int,
        replicas: ReplicaManager,
        ports: Ports,
        storages: Sequence[Storage] = (),
    ) -> None:
        self._image = image
        self._broker_id = broker_id
        self._replicas = replicas
        self._known: dict[Key, LogicalPartition] = {}
        self._told: dict[Key, dict[type[Event], Event]] = {}
        self.stores: dict[RegionKind, Store] = {RegionKind.LOCAL: LocalStore()}
        self.authorities: dict[RegionKind, Authority] = {}
        self._storages = tuple(storages)
        for one in storages:
            self.stores.update(one.stores)
            self.authorities.update(one.authorities)
        self.participants = Participants(
            [one.participant for one in storages],
            refuse=self._refuse,
            clock=ports.clock,
            log=ports.log,
        )

    def open(self, topic: str, index: int) -> LogicalPartition | None:
        """The partition, if it has a replica here that is open."""
        found = self._image.topics.get(topic)
        if found is None or index not in found.partitions:
            return None
        known = self._known.get((found.topic_id, index))
        return known if known is not None and known.replica is not None else None

    async def find(self, topic: str, index: int) -> LogicalPartition:
        """The partition, once its replica is open if it has one here; else the KafkaError.

        Whoever asks for one whose log is about to be opened waits for it.
        """
        known = self.open(topic, index)
        if known is not None:
            return known
        found = self._image.topics.get(topic)
        if found is None or index not in found.partitions:
            raise KafkaError(ErrorCode.unknown_topic_or_partition)
        await self._replicas.opened(topic, index)
        found = self._image.topics.get(topic)
        if found is None or index not in found.partitions:
            raise KafkaError(ErrorCode.unknown_topic_or_partition)
        return self._take(topic, found.topic_id, index)

    def with_replicas(self) -> Sequence[LogicalPartition]:
        """Those of which this broker has a replica, in the order in which they came."""
        keys = [(one.topic_id, one.index) for one in self._replicas.partitions()]
        return [self._known[key] for key in keys if key in self._known]

    async def apply(self) -> None:
        """Become what the image says, for all partitions."""
        await self._replicas.apply()
        there: dict[Key, None] = {}
        for topic, index, _ in self._image.partitions():
            key = (topic.topic_id, index)
            there[key] = None
            known = self._take(topic.name, *key)
            if self.participants:
                self._tell(key, known)
        for key in [one for one in self._known if one not in there]:
            gone = self._known.pop(key)
            self._told.pop(key, None)
            gone.become(gone.state, None)
            self.participants.tell(gone, Deleted())

    async def stop(self, *, clean: bool) -> None:
        """Participants hear of nothing any more, and storages end."""
        await self.participants.stop()
        for one in self._storages:
            await one.stop(clean=clean)

    async def _refuse(self, partition: LogicalPartition, leader_epoch: int, why: str) -> None:
        if partition.replica is not None:
            await self._replicas.refusals.refuse_to_lead(partition.replica, leader_epoch, why)

    def _take(self, topic: str, topic_id: UUID, index: int) -> LogicalPartition:
        key = (topic_id, index)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = LogicalPartition(
                topic=topic,
                topic_id=topic_id,
                index=index,
                broker_id=self._broker_id,
                moved=self._boundary_moved,
            )
            self.participants.tell(known, Started())
        state = self._image.topics[topic].partitions[index]
        known.become(state, self._replicas.replica(key))
        return known

    def _boundary_moved(self, partition: LogicalPartition, offset: int) -> None:
        epoch = partition.state.leader_epoch
        self.participants.tell(partition, BoundaryMoved(offset=offset, leader_epoch=epoch))

    def _tell(self, key: Key, partition: LogicalPartition) -> None:
        """Tell what is not as it was when it was told last."""
        told = self._told.setdefault(key, {})
        config = self._image.config(ResourceType.TOPIC, partition.topic)
        role: Event = RoleChanged(role=partition.role, leader_epoch=partition.state.leader_epoch)
        if partition.role is Role.NON_REPLICA:
            before = told.get(RoleChanged)
            role = Stopped() if before is not None and before != role else role
        for event in (Configured(values=tuple(config.items())), role):
            if told.get(type(event)) != event:
                told[type(event)] = event
                self.participants.tell(partition, event)
        told.pop(RoleChanged if isinstance(role, Stopped) else Stopped, None)
