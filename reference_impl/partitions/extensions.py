"""What participants add to a partition: more regions, other bounds, another writer."""

from __future__ import annotations

from reference_impl.partitions.views import Bounds, Region
from reference_impl.partitions.writing import Writer
from reference_impl.replication.decisions import EpochEnd, Reader


class Extension:
    """What a participant adds to one partition; as it stands, nothing."""

    def regions(self, regions: tuple[Region, ...]) -> tuple[Region, ...]:
        """The regions there are, in the order in which they are preferred."""
        return regions

    def bounds(self, bounds: Bounds, reader: Reader) -> Bounds:
        """The bounds as this reader is to know them; NOWHERE where nothing below has any."""
        return bounds

    def epoch_end(self, ends: EpochEnd, epoch: int) -> EpochEnd:
        """Where an epoch ends, given where it ends in what lies below."""
        return ends

    def last_tiered(self) -> int | None:
        """The highest offset in the remote tier, −1 if it is empty; None if there is no such tier.

        A KafkaError where that is not known yet.
        """
        return None

    async def delete_records(self, before: int) -> None:
        """Records below an offset are to go; the local log has been told."""

    def writer(self) -> Writer | None:
        """Who takes batches once the boundary is set."""
        return None
