"""Sending a consumer to a replica in its own rack (KIP-392)."""

from __future__ import annotations

from reference_impl.broker.node import Node
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.replication.decisions import ReplicaView, nearest_replica
from reference_impl.replication.partition import Partition

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


def preferred_replica(
    node: Node, partition: LogicalPartition, rack: str, offset: int
) -> int | None:
    """The replica that a consumer had better read from, if it is not this one."""
    replica = partition.replica
    if replica is None or not partition.leads:
        return None
    chosen = nearest_replica(rack, _views(node, replica, offset))
    return None if chosen == node.settings.node_id else chosen


def chooses_replicas(node: Node) -> bool:
    """Whether this broker is told to send consumers to other replicas."""
    return node.layers.value("replica.selector.class") == RACK_AWARE


def _views(node: Node, replica: Partition, offset: int) -> list[ReplicaView]:
    brokers = node.image.brokers
    now_ms = node.ports.clock.monotonic_ns() // 1_000_000
    views = [
        ReplicaView(
            broker_id=node.settings.node_id,
            rack=node.settings.rack,
            log_end_offset=replica.log.log_end_offset,
            since_caught_up_ms=0,
            leads=True,
        )
    ]
    for one, follower in replica.followers.items():
        broker = brokers.get(one)
        has_it = follower.log_start_offset <= offset <= follower.log_end_offset
        if broker is None or broker.fenced or one not in replica.state.isr or not has_it:
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
