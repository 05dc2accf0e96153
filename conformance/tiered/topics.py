"""The logs of the profile `tiered`: topics with tiny segments, and settings of their brokers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from harness.deployments.plan import QUICK_TO_NOTICE, DeploymentPlan
from harness.deployments.plan import TIERED as TIERED_STORAGE
from harness.steps.step import Step
from harness.sut import Sut

TIERS = "tiers"  # the actor
HOUR_MS = 3_600_000  # longer than any run
RETENTION_MS = 10 * HOUR_MS
SEGMENT_MS = 10_000
RETENTION_BYTES = 1500
FOR_EVER = "retention.ms=-1,local.retention.ms=-1"
HEAP_BYTES = 2200  # more than a segment has
BATCH_BYTES = 400
SMALL, PLAIN, LATE, BULK, ONCE, TURNS = "small", "plain", "late", "bulk", "once", "repeated"
GROWN = "grown"  # which is tiered once it has records
SHELF, HEAP = "shelf", "heap"  # whose disks keep what is young, or so many bytes
AGAIN = f"{ONCE}#2"
# A segment is full when its index is: an entry for every batch, no time has to pass.
ROLLS = "index.interval.bytes=1,segment.index.bytes=24"
ROLLS_AT_FOUR = "index.interval.bytes=1,segment.index.bytes=48"
_TIERED = f"remote.storage.enable=true,{ROLLS},min.insync.replicas=2"
TIERED = f"{_TIERED},local.retention.bytes=1"
TOPICS: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        SMALL: (3, f"{TIERED},retention.ms=-1"),
        PLAIN: (1, f"{ROLLS},min.insync.replicas=2,retention.ms=-1"),
        GROWN: (1, f"{ROLLS},min.insync.replicas=2,retention.ms=-1"),
        TURNS: (2, f"{TIERED},retention.ms=-1"),
        ONCE: (1, f"{TIERED},retention.ms=-1"),
        LATE: (2, f"{TIERED},retention.ms={RETENTION_MS},segment.ms={SEGMENT_MS}"),
        BULK: (1, f"{TIERED},retention.ms=-1,retention.bytes={RETENTION_BYTES}"),
        SHELF: (2, f"{_TIERED},retention.ms=-1,local.retention.ms={RETENTION_MS}"),
        HEAP: (1, f"{_TIERED},{FOR_EVER},local.retention.bytes={HEAP_BYTES}"),
    }
)
SETTINGS = MappingProxyType(
    {
        **QUICK_TO_NOTICE,
        "log.retention.check.interval.ms": "400",
        "log.initial.task.delay.ms": "400",
        "remote.log.manager.task.interval.ms": "500",
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    }
)
RACKS = ("a", "b", "b")


# Of the reference; Apache Kafka has a folder of its own (`harness/deployments/apache_kafka`).
OF_THE_REFERENCE = MappingProxyType(
    {
        TIERED_STORAGE: "true",
        "rlmm.config.remote.log.metadata.topic.num.partitions": "5",
        "remote.partition.remover.task.interval.ms": "1000",
        "remote.log.manager.task.retry.backoff.max.ms": "2000",
    }
)
STORES = MappingProxyType({"sim": "memory", "process": "s3", "docker": "s3"})


def plan_of(sut: Sut, world: str) -> DeploymentPlan:
    """Three brokers with tiered storage."""
    ours = sut.reference is not None
    return DeploymentPlan(
        brokers=3,
        racks=RACKS,
        properties={**SETTINGS, **(OF_THE_REFERENCE if ours else {})},
        mutants=sut.mutants,
        object_store=STORES.get(world) if ours else None,
    )


def tier(verb: str, **arguments: Any) -> Step:
    """A step of the clients of tiered logs."""
    return step(TIERS, verb, **arguments)


def step(actor: str, verb: str, **arguments: Any) -> Step:
    """A step of any actor."""
    return Step(actor=actor, verb=verb, arguments=MappingProxyType(arguments))
