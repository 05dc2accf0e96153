"""Sending a consumer to a replica in its own rack (KIP-392)."""

from __future__ import annotations

from reference_impl.broker.node import Node
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.replication.decisions import Reader, ReplicaView, nearest_replica

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


def preferred_replica(
    node: Node, partition: LogicalPartition, rack: str, offset: int
) -> int | None:
    """The replica that a consumer had better read from, if it is not this one."""
    if not partition.leads:
        return None
    chosen = nearest_replica(rack, _views(node, partition, offset))
    return None if chosen == node.settings.node_id else chosen


def chooses_replicas(node: Node) -> bool:
    """Whether this broker is told to send consumers to other replicas."""
    return node.layers.value("replica.selector.class") == RACK_AWARE


def _views(node: Node, partition: LogicalPartition, offset: int) -> list[ReplicaView]:
    brokers = node.image.brokers
    now_ms = node.ports.clock.monotonic_ns() // 1_000_000
    views = [
        ReplicaView(
            broker_id=node.settings.node_id,
            rack=node.settings.rack,
            log_end_offset=partition.bounds(Reader.FOLLOWER).log_end_offset,
            since_caught_up_ms=0,
            leads=True,
        )
    ]
    for one, follower in partition.followers.items():
        broker = brokers.get(one)
        has_it = follower.log_start_offset <= offset <= follower.log_end_offset
        if broker is None or broker.fenced or one not in partition.state.isr or not has_it:
            continue
        views.append(
            ReplicaView(
                broker_id=one,
                rack=broker.rack,
                log_end_offset=follower.log_end_offset,
                since_caught_up_ms=follower.since_caught_up_ms(now_ms),
                leads=False,
            )
        )
    return views
