"""What happens to partitions that somebody may want to count or to write down."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference_impl.log.log import Appended
    from reference_impl.replication.following import FollowState
    from reference_impl.replication.partition import Partition

Isr = tuple[int, ...]


class PartitionEvents:
    """Hears of them and does nothing; a broker has one that does. None of them may fail."""

    def appended(self, partition: Partition, what: Appended, size: int) -> None:
        """A producer's batches, that many bytes, are in the leader's log."""

    def isr_changed(self, partition: Partition, before: Isr, after: Isr) -> None:
        """The controller accepted what the leader here proposed."""

    def role_taken(self, partition: Partition) -> None:
        """Another leader epoch has begun; ``partition.leads`` says in which role."""

    def rolled(self, partition: Partition, offset: int) -> None:
        """A new segment begins at that offset."""

    def follows_otherwise(
        self, partition: Partition, before: FollowState, after: FollowState
    ) -> None:
        """A follower is in another state."""

    def truncated(self, partition: Partition, offset: int) -> None:
        """The end of the log was cut off from that offset on."""
