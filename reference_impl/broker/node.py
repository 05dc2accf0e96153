"""What the handlers of a broker work on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from reference_impl.broker.producer_ids import ProducerIds
from reference_impl.broker.settings import BrokerSettings
from reference_impl.coordinators.markers import Markers
from reference_impl.coordinators.offset_retention import Retention
from reference_impl.coordinators.offsets import OffsetCoordinator
from reference_impl.coordinators.transaction_coordinator import (
    CoordinatorSettings,
    TransactionCoordinator,
)
from reference_impl.kafka.client import Peer
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.metadata.image import Image
from reference_impl.metrics.brokers import BrokerMeters
from reference_impl.metrics.registry import Registry
from reference_impl.partitions.catalog import Partitions
from reference_impl.ports import Address, Ports
from reference_impl.replication.manager import ReplicaManager

NOT_LISTENING = Address("", 0)


@dataclass(slots=True, kw_only=True)
class Node:
    """One broker, as its handlers see it. ``broker_epoch`` is −1 until the controller gave one."""

    settings: BrokerSettings
    ports: Ports
    image: Image
    controller: Peer
    replicas: ReplicaManager
    partitions: Partitions
    listening: Address = NOT_LISTENING
    broker_epoch: int = -1
    unfenced: asyncio.Event = field(default_factory=asyncio.Event)
    producer_ids: ProducerIds = field(default_factory=ProducerIds)
    transactions: TransactionCoordinator = field(init=False)
    offsets: OffsetCoordinator = field(init=False)
    metrics: Registry = field(default_factory=Registry)
    meters: BrokerMeters = field(init=False)

    def __post_init__(self) -> None:
        self.meters = BrokerMeters(self.metrics, self.replicas.partitions)
        self.transactions = TransactionCoordinator(
            partitions=self.partitions,
            image=self.image,
            clock=self.ports.clock,
            markers=Markers(
                network=self.ports.network,
                clock=self.ports.clock,
                image=self.image,
                client_id=f"broker-{self.settings.node_id}-markers",
            ),
            settings=self._coordinator_settings,
            new_producer_id=self.new_producer_id,
        )
        self.offsets = OffsetCoordinator(
            broker_id=self.settings.node_id,
            partitions=self.partitions,
            image=self.image,
            clock=self.ports.clock,
            timeout_s=lambda: self.layers.number("offsets.commit.timeout.ms") / 1000,
            retention=self._offset_retention,
        )

    def _offset_retention(self) -> Retention:
        number = self.layers.number
        return Retention(
            keep_ms=number("offsets.retention.minutes") * 60_000,
            check_interval_ms=number("offsets.retention.check.interval.ms"),
        )

    def _coordinator_settings(self) -> CoordinatorSettings:
        number = self.layers.number
        return CoordinatorSettings(
            max_timeout_ms=number("transaction.max.timeout.ms"),
            expiration_ms=number("transactional.id.expiration.ms"),
            check_interval_ms=number("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
        )

    async def new_producer_id(self) -> int:
        """An id that no producer ever had."""
        return await self.producer_ids.take(
            self.controller, self.settings.node_id, self.broker_epoch
        )

    @property
    def layers(self) -> BrokerLayers:
        """What is configured for this broker now."""
        return BrokerLayers.of(self.image, self.settings.node_id, self.settings.properties)
