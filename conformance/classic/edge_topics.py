"""The logs of the stage `edges`: their topics, the settings of their brokers, and a step of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from harness.deployments.plan import QUICK_TO_NOTICE
from harness.steps.step import Step

EDGES = "edges"  # the stage and its first topic
TURNS, STAMPS, AGED, BULKY, RESUMED = "turns", "stamps", "aged", "bulky", "resumed"
LONE = "lone"  # which one broker has alone
INDEXED, HEAVY, FLEETING, NOTHING = "indexed", "heavy", "fleeting", "nothing"

HOUR_MS = 3_600_000  # longer than any run: what is younger stays for all of it
EXPIRATION_MS = HOUR_MS
RETENTION_MS = 10 * HOUR_MS
SEGMENT_MS = 10_000
RETENTION_BYTES = 1_500
BATCH_BYTES = 400
LEAST_SEGMENT_BYTES = 1 << 20  # less is not allowed (KIP-1030)
HALF_A_SEGMENT = 530_000  # two of these do not fit
SETTINGS = MappingProxyType(
    {
        **QUICK_TO_NOTICE,
        "replica.high.watermark.checkpoint.interval.ms": "500",
        "log.flush.offset.checkpoint.interval.ms": "500",
        "log.retention.check.interval.ms": "400",
        "log.initial.task.delay.ms": "400",
        "producer.id.expiration.ms": str(EXPIRATION_MS),
        "producer.id.expiration.check.interval.ms": "400",
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    }
)
RACKS = ("a", "b", "b")
# A segment is rolled by the timestamps of its records: no time has to pass.
SMALL_MS = 20
TOPICS: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        TURNS: (3, "min.insync.replicas=2"),
        STAMPS: (2, f"min.insync.replicas=2,segment.ms={SMALL_MS},retention.ms=-1"),
        RESUMED: (3, f"min.insync.replicas=2,segment.ms={SMALL_MS},retention.ms=-1"),
        AGED: (2, f"retention.ms={RETENTION_MS},segment.ms={SEGMENT_MS}"),
        BULKY: (2, f"retention.bytes={RETENTION_BYTES},segment.ms={SMALL_MS}"),
    }
)
# Of which only what is kept is looked at, where the cluster has the settings of this stage.
RETAINED: Mapping[str, tuple[int, str]] = MappingProxyType(
    {
        INDEXED: (
            1,
            f"retention.bytes={RETENTION_BYTES},index.interval.bytes=1,segment.index.bytes=24",
        ),
        HEAVY: (1, f"retention.bytes=1000,segment.bytes={LEAST_SEGMENT_BYTES}"),
        FLEETING: (1, f"retention.ms=0,segment.ms={SMALL_MS}"),
        NOTHING: (1, f"retention.bytes=0,segment.ms={SMALL_MS}"),
    }
)


def edge(verb: str, **arguments: Any) -> Step:
    """A step of the clients at the edges."""
    return step(EDGES, verb, **arguments)


def step(actor: str, verb: str, **arguments: Any) -> Step:
    """A step of anybody."""
    return Step(actor=actor, verb=verb, arguments=MappingProxyType(arguments))
