"""The log of a node: one record a line, as Kafka writes it.

    [2026-11-18 10:58:10,042] INFO [broker-1] t-0 starts as leader … (kafka.cluster.Partition)

Time is that of the node's clock, in UTC. What is written at which moment is the table ``LINES``,
with the logger that Kafka uses there. Live the lines go to stderr; a simulation keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import Final, NamedTuple

from reference_impl.ports.clock import Clock

INFO: Final = "INFO"
WARN: Final = "WARN"

_PARTITION: Final = "kafka.cluster.Partition"
_LOG: Final = "org.apache.kafka.storage.internals.log.UnifiedLog"
_HEARTBEATS: Final = "org.apache.kafka.controller.ClusterControlManager"
_LIFE: Final = "kafka.server.BrokerLifecycleManager"


class _Line(NamedTuple):
    level: str
    logger: str
    text: str


class Lines(Enum):
    """Every line there is: level, logger, text."""

    BECAME_LEADER = _Line(
        INFO,
        _PARTITION,
        "{partition} starts as leader: leader_epoch={epoch} offset={offset} "
        "high_watermark={high_watermark} isr={isr}",
    )
    BECAME_FOLLOWER = _Line(
        INFO,
        _PARTITION,
        "{partition} starts as follower: leader_epoch={epoch} leader={leader} offset={offset} "
        "high_watermark={high_watermark}",
    )
    ISR_SHRUNK = _Line(INFO, _PARTITION, "{partition} ISR shrunk: from={before} to={after}")
    ISR_EXPANDED = _Line(INFO, _PARTITION, "{partition} ISR expanded: from={before} to={after}")
    TRUNCATED = _Line(INFO, _LOG, "{partition} truncated: offset={offset}")
    ROLLED = _Line(INFO, _LOG, "{partition} rolled a new log segment: offset={offset}")
    FENCED = _Line(INFO, _HEARTBEATS, "broker fenced: broker={broker} broker_epoch={epoch}")
    UNFENCED = _Line(INFO, _HEARTBEATS, "broker unfenced: broker={broker} broker_epoch={epoch}")
    READY = _Line(INFO, _LIFE, "the broker is unfenced: broker_epoch={epoch}")
    STOPPING = _Line(INFO, _LIFE, "controlled shutdown: no partition is led from here any more")
    STOPPED = _Line(INFO, _LIFE, "shutdown completed")


class NodeLog:
    """Writes the lines of one node."""

    def __init__(self, node: str, clock: Clock, write: Callable[[str], None]) -> None:
        self._node = node
        self._clock = clock
        self._write = write

    def __call__(self, line: Lines, **values: object) -> None:
        """Write a line; ``values`` are what its text names."""
        level, logger, text = line.value
        now_ms = self._clock.now_ms()
        at = datetime.fromtimestamp(now_ms // 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
        said = text.format(**values)
        self._write(f"[{at},{now_ms % 1000:03}] {level} [{self._node}] {said} ({logger})")


def discard(line: str) -> None:
    """Where nobody reads the log."""
