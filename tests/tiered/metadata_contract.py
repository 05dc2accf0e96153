"""What tests of metadata managers do with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from metadata_benches import MetadataBench
from remote_events import ORDERS

from reference_impl.tiered.metadata import RemoteLogMetadataManager
from reference_impl.tiered.segments import (
    MetadataEvent,
    RemoteLogSegmentMetadata,
    RemotePartitionDeleteMetadata,
    TopicIdPartition,
)


async def published(manager: RemoteLogMetadataManager, event: MetadataEvent) -> None:
    """Publish an event by the call that is made for it."""
    if isinstance(event, RemoteLogSegmentMetadata):
        await manager.add_remote_log_segment_metadata(event)
    elif isinstance(event, RemotePartitionDeleteMetadata):
        await manager.put_remote_partition_delete_metadata(event)
    else:
        await manager.update_remote_log_segment_metadata(event)


def publish(bench: MetadataBench, broker: int, *events: MetadataEvent) -> None:
    """One after the other, each acknowledged."""
    for event in events:
        bench.call(broker, lambda manager, event=event: published(manager, event))


def follow(
    bench: MetadataBench, *brokers: int, partitions: tuple[TopicIdPartition, ...] = (ORDERS,)
) -> None:
    """Brokers learn about partitions, and know them when this returns."""

    async def told(manager: RemoteLogMetadataManager) -> None:
        manager.on_partition_leadership_changes(partitions, ())
        for one in partitions:
            await manager.caught_up(one)

    for broker in brokers:
        bench.call(broker, told)


def ask(bench: MetadataBench, broker: int, what: Callable[[RemoteLogMetadataManager], Any]) -> Any:
    """What a broker answers once it knows everything."""

    async def asked(manager: RemoteLogMetadataManager) -> Any:
        await manager.caught_up(ORDERS)
        return what(manager)

    return bench.call(broker, asked)


def listed(bench: MetadataBench, broker: int, partition: TopicIdPartition = ORDERS) -> list[Any]:
    segments = ask(bench, broker, lambda one: one.list_remote_log_segments(partition))
    return [(one.segment_id.id.int, one.state) for one in segments]
