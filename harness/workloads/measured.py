"""Whether the metrics of nodes say what the brokers themselves do.

A gauge is read a moment after Metadata was, so the lab waits until both agree, or the bound is
over; what it saw last is recorded, and rules judge that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.clients.topic_admin import ToldPartition
from harness.deployments.plan import CONTROLLER, broker_name
from harness.workloads.settled import KnownTopic, Look

METRICS = "metrics"  # the probe
PARTITION_COUNT = "kafka_server_replicamanager_partitioncount"
LEADER_COUNT = "kafka_server_replicamanager_leadercount"
UNDER_REPLICATED = "kafka_server_replicamanager_underreplicatedpartitions"
UNDER_MIN_ISR = "kafka_server_replicamanager_underminisrpartitioncount"
ACTIVE_BROKERS = "kafka_controller_kafkacontroller_activebrokercount"
FENCED_BROKERS = "kafka_controller_kafkacontroller_fencedbrokercount"
OFFLINE_PARTITIONS = "kafka_controller_kafkacontroller_offlinepartitionscount"
ALL_PARTITIONS = "kafka_controller_kafkacontroller_globalpartitioncount"

Counted = tuple[str, str, range]
"""A node, a metric of it, and what it may be."""


def is_measured(rows: Iterable[Mapping[str, Any]], look: Look, known: Sequence[KnownTopic]) -> bool:
    """Whether brokers and controller count what the brokers that are up tell."""
    seen = {(one["node"], one["name"]): one["value"] for one in rows if "node" in one}
    return all(seen.get((node, name)) in wanted for node, name, wanted in _wanted(look, known))


def _wanted(look: Look, known: Sequence[KnownTopic]) -> Iterator[Counted]:
    told = next((one for one in look.topics.values() if one is not None), {})
    moved = {(one.name, index) for one in known for index in one.targets}
    least = {one.name: one.min_isr for one in known}
    partitions = [
        (part, (name, index) in moved, least.get(name))
        for name, topic in told.items()
        for index, part in topic.partitions.items()
    ]
    for broker in look.topics:
        yield from _of_a_broker(broker, partitions)
    fenced = next((one for one in look.fenced.values() if one is not None), {})
    yield CONTROLLER, FENCED_BROKERS, _only(sum(fenced.values()))
    yield CONTROLLER, ACTIVE_BROKERS, _only(len(fenced) - sum(fenced.values()))
    leaderless = sum(one.leader < 0 for one, _, _ in partitions)
    yield CONTROLLER, OFFLINE_PARTITIONS, _only(leaderless)
    yield CONTROLLER, ALL_PARTITIONS, _only(len(partitions))


def _of_a_broker(
    broker: int, partitions: Sequence[tuple[ToldPartition, bool, int | None]]
) -> Iterator[Counted]:
    """Whether a replica on its way in counts as lacking depends on what is not told.

    A minimum that the lab did not set may be any.
    """
    led = [one for one in partitions if one[0].leader == broker]
    lacking = [moved for one, moved, _ in led if len(one.isr) < len(one.replicas)]
    short = [
        least is None
        for one, _, least in led
        if least is None or len(one.isr) < min(least, len(one.replicas))
    ]
    node = broker_name(broker)
    yield node, PARTITION_COUNT, _only(sum(broker in one.replicas for one, _, _ in partitions))
    yield node, LEADER_COUNT, _only(len(led))
    yield node, UNDER_REPLICATED, range(lacking.count(False), len(lacking) + 1)
    yield node, UNDER_MIN_ISR, range(short.count(False), len(short) + 1)


def _only(number: int) -> range:
    return range(number, number + 1)
