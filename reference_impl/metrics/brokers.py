"""What a broker and the controller measure, beside the requests they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from reference_impl.decisions import decision
from reference_impl.metadata.image import Broker, Image, PartitionState
from reference_impl.metrics import names
from reference_impl.metrics.registry import Registry


class MeasuredPartition(Protocol):
    """A replica, as far as it is measured."""

    @property
    def state(self) -> PartitionState: ...

    @property
    def leads(self) -> bool: ...

    @property
    def min_in_sync(self) -> int: ...


class BrokerMeters:
    """The counters of a broker, and the gauges over its partitions."""

    def __init__(
        self, registry: Registry, partitions: Callable[[], Iterable[MeasuredPartition]]
    ) -> None:
        def count(that: Callable[[MeasuredPartition], bool]) -> Callable[[], int]:
            return lambda: sum(1 for one in partitions() if that(one))

        registry.gauge(names.PARTITION_COUNT, count(lambda one: True))
        registry.gauge(names.LEADER_COUNT, count(counts_as_led))
        registry.gauge(names.UNDER_REPLICATED, count(is_under_replicated))
        registry.gauge(names.UNDER_MIN_ISR, count(is_under_min_isr))
        self.isr_shrinks = registry.counter(names.ISR_SHRINKS)
        self.isr_expands = registry.counter(names.ISR_EXPANDS)
        self.messages_in = registry.counter(names.MESSAGES_IN)
        self.bytes_in = registry.counter(names.BYTES_IN)
        self.bytes_out = registry.counter(names.BYTES_OUT)

    def appended(self, topic: str, *, records: int, size: int) -> None:
        """A producer's batches are in the log of the leader."""
        self.messages_in.add((topic,), records)
        self.bytes_in.add((topic,), size)

    def isr_changed(self, before: tuple[int, ...], after: tuple[int, ...]) -> None:
        """The controller accepted what the leader here proposed."""
        change = isr_change(before, after)
        if change < 0:
            self.isr_shrinks.add()
        elif change > 0:
            self.isr_expands.add()


@decision("counts-as-led", rules=("KFK-210",))
def counts_as_led(one: MeasuredPartition) -> bool:
    """Whether a partition with a replica here is led from here."""
    return one.leads


@decision("isr-change", rules=("KFK-213", "KFK-215"))
def isr_change(before: tuple[int, ...], after: tuple[int, ...]) -> int:
    """By how many an ISR grew; below 0 it shrank. One for another is neither."""
    return len(after) - len(before)


@decision("under-replicated", rules=("KFK-211",))
def is_under_replicated(one: MeasuredPartition) -> bool:
    """Led from here, and not everybody is in sync; replicas on their way in do not count."""
    state = one.state
    return one.leads and len(state.isr) < len([r for r in state.replicas if r not in state.adding])


@decision("under-min-isr", rules=("KFK-214",))
def is_under_min_isr(one: MeasuredPartition) -> bool:
    """Led from here, and too few are in sync for acks=all."""
    return one.leads and len(one.state.isr) < one.min_in_sync


def measure_controller(registry: Registry, image: Image) -> None:
    """The gauges of the controller."""

    def brokers(*, fenced: bool) -> int:
        return sum(1 for one in image.brokers.values() if counts_as_fenced(one) is fenced)

    def leaderless() -> int:
        return sum(1 for _, _, state in image.partitions() if counts_as_offline(state))

    registry.gauge(names.ACTIVE_CONTROLLERS, lambda: 1)
    registry.gauge(names.ACTIVE_BROKERS, lambda: brokers(fenced=False))
    registry.gauge(names.FENCED_BROKERS, lambda: brokers(fenced=True))
    registry.gauge(names.OFFLINE_PARTITIONS, leaderless)
    registry.gauge(names.GLOBAL_TOPICS, lambda: len(image.topics))
    registry.gauge(names.GLOBAL_PARTITIONS, lambda: sum(1 for _ in image.partitions()))


@decision("counts-as-fenced", rules=("KFK-212",))
def counts_as_fenced(broker: Broker) -> bool:
    """Whether a broker that is registered may not lead for now."""
    return broker.fenced


@decision("counts-as-offline", rules=("KFK-212",))
def counts_as_offline(state: PartitionState) -> bool:
    """Whether a partition can be neither written nor read."""
    return not state.has_leader
