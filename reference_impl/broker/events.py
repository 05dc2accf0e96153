"""What a broker counts of its partitions."""

from __future__ import annotations

from reference_impl.log.log import Appended
from reference_impl.metrics.brokers import BrokerMeters
from reference_impl.replication.events import Isr, PartitionEvents
from reference_impl.replication.partition import Partition


class BrokerEvents(PartitionEvents):
    """Counts what happens to partitions."""

    def __init__(self) -> None:
        self.meters: BrokerMeters | None = None  # until the broker is put together

    def appended(self, partition: Partition, what: Appended, size: int) -> None:
        """Records by their offsets, as Kafka counts them: a duplicate counts too."""
        if self.meters is not None:
            records = what.last_offset - what.base_offset + 1
            self.meters.appended(partition.topic, records=records, size=size)

    def isr_changed(self, partition: Partition, before: Isr, after: Isr) -> None:
        """Smaller or larger."""
        if self.meters is not None:
            self.meters.isr_changed(before, after)
