"""What clients see of a cluster: one function of the image, the client's zone and readiness.

Metadata, DescribeTopicPartitions and the leaders named in Produce and Fetch answers all ask here,
so that no two of them tell a client different things.

The zone of a client (its rack, if it says one) and whether the broker's partition is ready change
nothing about a classic partition: it has one leader, and it is the same for everybody. Partitions
without a log of their own are seen from a zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reference_impl.decisions import decision
from reference_impl.metadata.image import Broker, PartitionState
from reference_impl.metadata.records import NO_LEADER


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who looks: from which zone, and whether the partition is ready where it is looked at."""

    zone: str | None = None
    ready: bool = True


ANYWHERE = Viewer()


@dataclass(frozen=True, slots=True, kw_only=True)
class VisiblePartition:
    """A partition as a client is shown it; ``offline`` are those replicas that are not up."""

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...]

    @property
    def has_leader(self) -> bool:
        """Somebody leads it, as far as the client is told."""
        return self.leader != NO_LEADER


@decision("visible-brokers", rules=("KFK-117", "KFK-119"))
def visible_brokers(brokers: Iterable[Broker]) -> tuple[Broker, ...]:
    """Clients are sent to brokers that are up: registered and not fenced."""
    return tuple(broker for broker in brokers if not broker.fenced)


@decision("visible-partition", rules=("KFK-117", "KFK-119"))
def visible_partition(
    state: PartitionState, brokers: Mapping[int, Broker], viewer: Viewer
) -> VisiblePartition:
    """A classic partition is shown as the controller decided it, whoever looks.

    A leader that is not registered any more is nobody; replicas that are fenced or not registered
    are offline.
    """
    return VisiblePartition(
        leader=state.leader if state.leader in brokers else NO_LEADER,
        leader_epoch=state.leader_epoch,
        replicas=state.replicas,
        isr=state.isr,
        offline=tuple(r for r in state.replicas if r not in brokers or brokers[r].fenced),
    )
