"""The image: what the records of the metadata log add up to.

Controller and brokers hold one each and differ only in how far they have read. ``apply`` takes the
records in the order of the log; applying the same records to an empty image gives the same image,
wherever that happens. A record that speaks of something unknown is an ``ImageError``: the log and
the image no longer belong together, and going on would hide it.

States inside the image are values: a change puts a new one in the place of the old, so that whoever
took one earlier can compare.

    ValueError
    └── ImageError    a record that does not fit the image
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from reference_impl.metadata.records import (
    NO_LEADER,
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    ConfigSet,
    MetadataRecord,
    PartitionChanged,
    PartitionCreated,
    ProducerIdsAllocated,
    RemoteTopicStopped,
    ResourceType,
    TopicCreated,
    TopicDeleted,
)


class ImageError(ValueError):
    """A record that does not fit the image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A registered broker."""

    broker_id: int
    broker_epoch: int
    incarnation_id: UUID
    host: str
    port: int
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool = False

    @property
    def active(self) -> bool:
        """It may lead and join an ISR: neither fenced nor on its way out."""
        return not self.fenced and not self.in_controlled_shutdown


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """What the controller last decided about a partition."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @property
    def has_leader(self) -> bool:
        """Somebody leads it."""
        return self.leader != NO_LEADER

    @property
    def reassigning(self) -> bool:
        """Replicas are on their way in or out."""
        return bool(self.adding or self.removing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic and its partitions by number."""

    name: str
    topic_id: UUID
    partitions: dict[int, PartitionState] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovingTopic:
    """A deleted topic whose brokers may still write remote data.

    ``offset`` is that of its deletion in the metadata log: a broker that has read so far has
    stopped.
    """

    name: str
    topic_id: UUID
    partitions: tuple[int, ...]
    replicas: tuple[int, ...]  # of any of its partitions
    offset: int


class Image:
    """The cluster as of ``offset``, the offset of the last record applied (−1: none yet)."""

    def __init__(self) -> None:
        self.offset = -1
        self.brokers: dict[int, Broker] = {}
        self.topics: dict[str, Topic] = {}
        self.topic_ids: dict[UUID, str] = {}
        self.removing: dict[UUID, RemovingTopic] = {}
        self.stopped: dict[UUID, RemovingTopic] = {}  # nothing is added to their remote data
        self.next_producer_id = 0
        self._configs: dict[tuple[int, str], dict[str, str]] = {}
        self._watchers: list[Callable[[MetadataRecord], None]] = []

    def watch(self, applied: Callable[[MetadataRecord], None]) -> None:
        """Call this after every record."""
        self._watchers.append(applied)

    def partition(self, topic: str, index: int) -> PartitionState | None:
        """The state of a partition, if there is one."""
        found = self.topics.get(topic)
        return None if found is None else found.partitions.get(index)

    def topic_by_id(self, topic_id: UUID) -> Topic | None:
        """The topic with that id, if there is one."""
        name = self.topic_ids.get(topic_id)
        return None if name is None else self.topics[name]

    def partitions(self) -> Iterator[tuple[Topic, int, PartitionState]]:
        """Every partition of every topic, in the order of their creation."""
        for topic in self.topics.values():
            for index, state in topic.partitions.items():
                yield topic, index, state

    def config(self, resource_type: int, name: str) -> dict[str, str]:
        """The dynamic configurations of a resource; a copy."""
        return dict(self._configs.get((int(resource_type), name), {}))

    def config_resources(self, resource_type: int) -> tuple[str, ...]:
        """The names of all resources of a kind that have a dynamic configuration."""
        return tuple(name for kind, name in self._configs if kind == int(resource_type))

    def apply(self, record: MetadataRecord) -> None:
        """Take the next record of the log in."""
        _APPLY[type(record)](self, record)
        self.offset += 1
        for applied in self._watchers:
            applied(record)

    def _broker_registered(self, record: BrokerRegistered) -> None:
        self.brokers[record.broker_id] = Broker(
            broker_id=record.broker_id,
            broker_epoch=record.broker_epoch,
            incarnation_id=record.incarnation_id,
            host=record.host,
            port=record.port,
            rack=record.rack,
            fenced=record.fenced,
        )

    def _broker_changed(self, record: BrokerChanged) -> None:
        broker = self._broker(record.broker_id, record.broker_epoch)
        leaving = record.in_controlled_shutdown
        self.brokers[record.broker_id] = replace(
            broker,
            fenced=broker.fenced if record.fenced is None else record.fenced,
            in_controlled_shutdown=broker.in_controlled_shutdown if leaving is None else leaving,
        )

    def _broker_unregistered(self, record: BrokerUnregistered) -> None:
        self._broker(record.broker_id, record.broker_epoch)
        del self.brokers[record.broker_id]

    def _broker(self, broker_id: int, broker_epoch: int) -> Broker:
        broker = self.brokers.get(broker_id)
        if broker is None or broker.broker_epoch != broker_epoch:
            raise ImageError(f"no broker {broker_id} with epoch {broker_epoch} is registered")
        return broker

    def _topic_created(self, record: TopicCreated) -> None:
        if record.name in self.topics:
            raise ImageError(f"the topic {record.name!r} exists already")
        self.topics[record.name] = Topic(name=record.name, topic_id=record.topic_id)
        self.topic_ids[record.topic_id] = record.name

    def _topic_deleted(self, record: TopicDeleted) -> None:
        topic = self._topic(record.topic_id)
        del self.topics[topic.name]
        del self.topic_ids[record.topic_id]
        self._configs.pop((ResourceType.TOPIC, topic.name), None)
        if record.remote:
            states = topic.partitions.values()
            self.removing[record.topic_id] = RemovingTopic(
                name=topic.name,
                topic_id=record.topic_id,
                partitions=tuple(topic.partitions),
                replicas=tuple(sorted({one for state in states for one in state.replicas})),
                offset=self.offset + 1,
            )

    def _remote_topic_stopped(self, record: RemoteTopicStopped) -> None:
        topic = self.removing.pop(record.topic_id, None)
        if topic is None:
            raise ImageError(f"the topic {record.topic_id} is not being removed")
        self.stopped[record.topic_id] = topic

    def _topic(self, topic_id: UUID) -> Topic:
        topic = self.topic_by_id(topic_id)
        if topic is None:
            raise ImageError(f"no topic has the id {topic_id}")
        return topic

    def _partition_created(self, record: PartitionCreated) -> None:
        partitions = self._topic(record.topic_id).partitions
        if record.partition in partitions:
            raise ImageError(f"partition {record.partition} of {record.topic_id} exists already")
        partitions[record.partition] = PartitionState(
            replicas=record.replicas,
            isr=record.isr,
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
            adding=record.adding,
            removing=record.removing,
            elr=record.elr,
            last_known_elr=record.last_known_elr,
        )

    def _partition_changed(self, record: PartitionChanged) -> None:
        partitions = self._topic(record.topic_id).partitions
        state = partitions.get(record.partition)
        if state is None:
            raise ImageError(f"no partition {record.partition} of {record.topic_id}")
        partitions[record.partition] = changed(state, record)

    def _config_set(self, record: ConfigSet) -> None:
        key = (int(record.resource_type), record.resource_name)
        configs = self._configs.setdefault(key, {})
        if record.value is None:
            configs.pop(record.key, None)
        else:
            configs[record.key] = record.value
        if not configs:
            del self._configs[key]

    def _producer_ids_allocated(self, record: ProducerIdsAllocated) -> None:
        self.next_producer_id = record.next_producer_id


CHANGEABLE = (
    "isr",
    "leader",
    "leader_epoch",
    "replicas",
    "adding",
    "removing",
    "elr",
    "last_known_elr",
)


def changed(state: PartitionState, record: PartitionChanged) -> PartitionState:
    """The state after that change."""
    values = {name: getattr(record, name) for name in CHANGEABLE}
    news: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    return replace(state, partition_epoch=state.partition_epoch + 1, **news)


_APPLY: dict[type[Any], Callable[[Image, Any], None]] = {
    BrokerRegistered: Image._broker_registered,
    BrokerChanged: Image._broker_changed,
    BrokerUnregistered: Image._broker_unregistered,
    TopicCreated: Image._topic_created,
    TopicDeleted: Image._topic_deleted,
    RemoteTopicStopped: Image._remote_topic_stopped,
    PartitionCreated: Image._partition_created,
    PartitionChanged: Image._partition_changed,
    ConfigSet: Image._config_set,
    ProducerIdsAllocated: Image._producer_ids_allocated,
}
