"""What a broker counts of its partitions, and what it writes down about them."""

from __future__ import annotations

from reference_impl.log.log import Appended
from reference_impl.metrics.brokers import BrokerMeters
from reference_impl.ports.log_lines import Lines, NodeLog
from reference_impl.replication.events import Isr, PartitionEvents
from reference_impl.replication.following import FollowState
from reference_impl.replication.partition import Partition


class BrokerEvents(PartitionEvents):
    """Counts what happens to partitions, and logs what Kafka logs."""

    def __init__(self, log: NodeLog) -> None:
        self.meters: BrokerMeters | None = None  # until the broker is put together
        self._log = log

    def appended(self, partition: Partition, what: Appended, size: int) -> None:
        """Records by their offsets, as Kafka counts them: a duplicate counts too."""
        if self.meters is not None:
            records = what.last_offset - what.base_offset + 1
            self.meters.appended(partition.topic, records=records, size=size)

    def isr_changed(self, partition: Partition, before: Isr, after: Isr) -> None:
        """Smaller or larger."""
        if self.meters is not None:
            self.meters.isr_changed(before, after)
        if len(before) != len(after):
            line = Lines.ISR_SHRUNK if len(after) < len(before) else Lines.ISR_EXPANDED
            self._log(line, partition=partition, before=_ids(before), after=_ids(after))

    def role_taken(self, partition: Partition) -> None:
        """As leader or as follower."""
        log, state = partition.log, partition.state
        self._log(
            Lines.BECAME_LEADER if partition.leads else Lines.BECAME_FOLLOWER,
            partition=partition,
            epoch=state.leader_epoch,
            leader=state.leader,
            offset=log.log_end_offset,
            high_watermark=log.high_watermark,
            isr=_ids(state.isr),
        )

    def rolled(self, partition: Partition, offset: int) -> None:
        """A new segment."""
        self._log(Lines.ROLLED, partition=partition, offset=offset)

    def follows_otherwise(
        self, partition: Partition, before: FollowState, after: FollowState
    ) -> None:
        """From and to the states that tiered storage adds."""
        if before in _BUILDING or after in _BUILDING:
            self._log(Lines.FOLLOWS, partition=partition, before=before, after=after)

    def truncated(self, partition: Partition, offset: int) -> None:
        """An end that was cut off."""
        self._log(Lines.TRUNCATED, partition=partition, offset=offset)


_BUILDING = (FollowState.FINDING_LOCAL_START, FollowState.BUILDING_REMOTE_LOG_AUX)


def _ids(isr: Isr) -> str:
    return ",".join(map(str, isr))
