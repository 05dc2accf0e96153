"""What the controller knows: the image, and what is not in it, the sessions of brokers.

Flows read it and return an ``Outcome``: records to be written and the answer to be given once they
are. They change nothing themselves but sessions; a record that could not be written leaves no
trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from reference_impl.controller.changes import Circumstances
from reference_impl.controller.decisions import Election
from reference_impl.controller.placement import UsableBroker
from reference_impl.kafka.apis import Answered
from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.metadata.effective import BrokerLayers, topic_value
from reference_impl.metadata.image import Image
from reference_impl.metadata.records import BrokerRegistered, MetadataRecord
from reference_impl.ports.clock import Clock, Rng

NOT_SHUTTING_DOWN = -1
_MS = 1_000_000


def _nothing() -> None:
    pass


@dataclass(slots=True, kw_only=True)
class Outcome(Generic[Answered]):
    """What a request comes to: records, the answer, and what to note once they are written."""

    answer: Answered
    records: Sequence[MetadataRecord] = ()
    written: Callable[[], None] = _nothing


@dataclass(slots=True, kw_only=True)
class Session:
    """What a broker's heartbeats have said; a restart of the controller begins it anew."""

    contact_ns: int | None = None
    metadata_offset: int = -1
    shutdown_offset: int = NOT_SHUTTING_DOWN


@dataclass(slots=True, kw_only=True)
class Cluster:
    """The image and the sessions, and the questions that flows ask of them."""

    node_id: int
    cluster_id: str
    properties: Mapping[str, str]
    clock: Clock
    rng: Rng
    image: Image = field(default_factory=Image)
    sessions: dict[int, Session] = field(default_factory=dict)
    registered_at: dict[int, int] = field(default_factory=dict)

    def apply(self, record: MetadataRecord) -> None:
        """Take in a record that is safely in the log."""
        self.image.apply(record)
        if isinstance(record, BrokerRegistered):
            self.registered_at[record.broker_id] = self.image.offset

    @property
    def next_offset(self) -> int:
        """The offset of the next record of the metadata log."""
        return self.image.offset + 1

    def layers(self) -> BrokerLayers:
        """The configurations of the controller itself; new topics take their defaults from it."""
        return BrokerLayers.of(self.image, self.node_id, self.properties)

    def active(self) -> tuple[int, ...]:
        """The brokers that may lead."""
        return tuple(broker.broker_id for broker in self.image.brokers.values() if broker.active)

    def is_active(self, broker_id: int) -> bool:
        """It may lead and be in an ISR."""
        broker = self.image.brokers.get(broker_id)
        return broker is not None and broker.active

    def usable_brokers(self) -> tuple[UsableBroker, ...]:
        """The brokers that may be given new replicas: all but those on their way out."""
        return tuple(
            UsableBroker(broker_id=broker.broker_id, rack=broker.rack, fenced=broker.fenced)
            for broker in self.image.brokers.values()
            if not broker.in_controlled_shutdown
        )

    def min_isr(self, topic: str) -> int:
        """``min.insync.replicas`` of a topic, but never more than it has replicas."""
        wanted = topic_value(self.image, self.layers(), topic, "min.insync.replicas")
        replicas = len(self.image.topics[topic].partitions[0].replicas)
        return min(wanted, replicas) if isinstance(wanted, int) else replicas

    def unclean(self, topic: str) -> bool:
        """Whether a topic would rather lose records than be without a leader."""
        name = "unclean.leader.election.enable"
        return topic_value(self.image, self.layers(), topic, name) is True

    def around(
        self,
        topic: str,
        *,
        without: int | None = None,
        also: int | None = None,
        lost: tuple[int, ...] = (),
    ) -> Circumstances:
        """What an election in that topic depends on, if brokers go or come right now."""
        acceptable = [b for b in self.active() if b != without and b not in lost]
        if also is not None and also not in acceptable:
            acceptable.append(also)
        return Circumstances(
            acceptable=tuple(acceptable),
            min_isr=self.min_isr(topic),
            election=Election.UNCLEAN if self.unclean(topic) else Election.ONLINE,
            lost=lost,
        )

    def check_broker_epoch(self, broker_id: int, broker_epoch: int) -> None:
        """Refuse a broker that is not registered, or not in this life of it."""
        broker = self.image.brokers.get(broker_id)
        if broker is None:
            raise KafkaError(ErrorCode.stale_broker_epoch, f"Broker {broker_id} is not registered")
        if broker.broker_epoch != broker_epoch:
            raise KafkaError(
                ErrorCode.stale_broker_epoch,
                f"Expected broker epoch {broker.broker_epoch}, but got {broker_epoch}",
            )

    def session(self, broker_id: int) -> Session:
        """The session of a broker; a new one if it has none."""
        return self.sessions.setdefault(broker_id, Session())

    def silent_ms(self, broker_id: int) -> int | None:
        """How long a broker has been silent; None if it never spoke."""
        contact = self.session(broker_id).contact_ns
        return None if contact is None else (self.clock.monotonic_ns() - contact) // _MS
