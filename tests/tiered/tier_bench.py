"""A tier on one simulated node: an object store that can fail, metadata in memory, segments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from reference_impl.kafka.batches import header
from reference_impl.log.decisions import EpochEntry, epochs_with
from reference_impl.log.producers import ProducerStates
from reference_impl.metadata.effective import BrokerLayers
from reference_impl.metadata.image import Image
from reference_impl.metrics.registry import Registry
from reference_impl.tiered.copying import checkpoint_of
from reference_impl.tiered.memory_metadata import MemoryMetadataManager, MemoryMetadataRegistry
from reference_impl.tiered.metered_storage import MeteredStorage
from reference_impl.tiered.meters import TieredMeters
from reference_impl.tiered.object_storage import ObjectStorageManager
from reference_impl.tiered.segments import (
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    SegmentState,
)
from reference_impl.tiered.settings import TieredSettings, TopicSettings
from reference_impl.tiered.tier import Tier
from tests.ports.sim_node_benches import SimNodeBench, sim_node
from tests.tiered.remote_segments import ORDERS, copy_of

BROKER = 1


async def _nothing() -> None:
    """No log is written down."""


@dataclass
class TierBench:
    """The tier, the store and the registry behind it, and what was logged."""

    node: SimNodeBench
    tier: Tier
    registry: MemoryMetadataRegistry
    metadata: MemoryMetadataManager
    image: Image
    lines: list[str] = field(default_factory=list)

    def objects(self) -> list[str]:
        """What is in the store."""
        return list(self.node.sim.store.contents())

    async def copied(
        self,
        number: int,
        written: Sequence[bytes],
        lineage: Sequence[tuple[int, int]],
        *,
        before: Sequence[bytes] = (),
        finished: bool = True,
    ) -> RemoteLogSegmentMetadata:
        """Copy a segment as a leader with that lineage does; ``before`` is what its log has before
        it, for the producers."""
        ends = header(written[-1]).last_offset
        epochs: tuple[EpochEntry, ...] = ()
        for one in lineage:
            if one[1] <= ends:
                epochs = epochs_with(epochs, EpochEntry(*one))
        copy = copy_of(number, written, epochs=[tuple(one) for one in _held(epochs, written)])
        states = ProducerStates("orders-0", 0)
        for one in (*before, *written):
            states.add(header(one))
        data = replace(
            copy.data, leader_epochs=checkpoint_of(epochs), producer_snapshot=states.snapshot()
        )
        metadata = replace(copy.metadata, state=SegmentState.COPY_SEGMENT_STARTED)
        await self.metadata.add_remote_log_segment_metadata(metadata)
        await self.tier.storage.copy_log_segment_data(metadata, data)
        if finished:
            await self.metadata.update_remote_log_segment_metadata(
                RemoteLogSegmentMetadataUpdate(
                    segment_id=metadata.segment_id,
                    leader_epoch=metadata.leader_epoch,
                    event_timestamp_ms=number,
                    state=SegmentState.COPY_SEGMENT_FINISHED,
                )
            )
        return metadata


def _held(epochs: Sequence[EpochEntry], written: Sequence[bytes]) -> list[EpochEntry]:
    inside = [header(one).partition_leader_epoch for one in written]
    return [one for one in epochs if one.epoch in inside]


@contextmanager
def tier_bench(
    settings: TieredSettings | None = None, *, delay_s: float = 0.0
) -> Iterator[TierBench]:
    """A tier whose broker follows `orders`-0; metadata arrives here after a delay."""
    chosen, lines, image = settings or TieredSettings(), [], Image()
    with sim_node() as node:
        registry = MemoryMetadataRegistry()
        ports = replace(node.ports, write_log_line=lines.append)
        metadata = MemoryMetadataManager(
            registry, broker_id=BROKER, clock=ports.clock, delay_s=delay_s
        )
        metadata.on_partition_leadership_changes([], [ORDERS])
        meters = TieredMeters(Registry())
        tier = Tier(
            ports=ports,
            storage=MeteredStorage(ObjectStorageManager(ports), meters),
            metadata=metadata,
            meters=meters,
            settings=lambda: chosen,
            topics=lambda: TopicSettings(image, BrokerLayers()),
            checkpoint=_nothing,
        )
        yield TierBench(node, tier, registry, metadata, image, lines)
