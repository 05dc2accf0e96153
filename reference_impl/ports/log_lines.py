"""The log of a node: one record a line, as Kafka writes it.

    [2026-11-18 10:58:10,042] INFO [broker-1] t-0 starts as leader … (kafka.cluster.Partition)

Time is that of the node's clock, in UTC. What is written at which moment is the table ``LINES``,
with the logger that Kafka uses there. Live the lines go to stderr; a simulation keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple

from reference_impl.ports.clock import Clock

INFO: Final = "INFO"
WARN: Final = "WARN"
ERROR: Final = "ERROR"

_PARTITION: Final = "kafka.cluster.Partition"
_LOG: Final = "org.apache.kafka.storage.internals.log.UnifiedLog"
_HEARTBEATS: Final = "org.apache.kafka.controller.ClusterControlManager"
_LIFE: Final = "kafka.server.BrokerLifecycleManager"
_REMOTE: Final = "kafka.log.remote.RemoteLogManager"
_REMOTE_METADATA: Final = "kafka.log.remote.TopicBasedRemoteLogMetadataManager"


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
    FOLLOWS = _Line(INFO, _PARTITION, "{partition} follower state: from={before} to={after}")
    FENCED = _Line(INFO, _HEARTBEATS, "broker fenced: broker={broker} broker_epoch={epoch}")
    UNFENCED = _Line(INFO, _HEARTBEATS, "broker unfenced: broker={broker} broker_epoch={epoch}")
    READY = _Line(INFO, _LIFE, "the broker is unfenced: broker_epoch={epoch}")
    STOPPING = _Line(INFO, _LIFE, "controlled shutdown: no partition is led from here any more")
    STOPPED = _Line(INFO, _LIFE, "shutdown completed")
    EVENT_NOT_HEARD = _Line(
        WARN, _PARTITION, "{partition} {event} is to be told again: retry={attempt} {why}"
    )
    SEGMENT_COPIED = _Line(
        INFO, _REMOTE, "{partition} copied a segment: id={id} start={start} end={end} bytes={size}"
    )
    SEGMENT_DELETED = _Line(
        INFO, _REMOTE, "{partition} deleted a remote segment: id={id} start={start} end={end}"
    )
    NO_SNAPSHOT = _Line(
        ERROR,
        _REMOTE,
        "{partition} cannot copy the segment at {start}: no producer snapshot of its end",
    )
    REMOTE_TASK_FAILED = _Line(WARN, _REMOTE, "{partition} {task} failed: retry={attempt} {why}")
    TIERED_STORAGE_NOT_AVAILABLE = _Line(
        WARN, _REMOTE, "{partition} TIERED_STORAGE_NOT_AVAILABLE for a reader: {why}"
    )
    METADATA_EVENT_DROPPED = _Line(ERROR, _REMOTE_METADATA, "offset={offset} of {topic}: {why}")
    METADATA_RECORD_SKIPPED = _Line(
        ERROR, _REMOTE_METADATA, "offset={offset} of {topic} is no event, and was skipped: {why}"
    )
    METADATA_TOPIC_NOT_READY = _Line(
        ERROR, _REMOTE_METADATA, "{topic} is not there yet, trying again: {why}"
    )
    METADATA_TOPIC_REFUSED = _Line(
        ERROR,
        _REMOTE_METADATA,
        "{topic} has {partitions} partitions and {name} is {wanted}: no remote segments are known",
    )
    METADATA_STARTED_OVER = _Line(
        ERROR, _REMOTE_METADATA, "{topic} ends at {end}, before what was read of it: read again"
    )
    METADATA_NOT_WRITTEN = _Line(
        ERROR, _REMOTE_METADATA, "the local files of remote metadata were not written: {why}"
    )
    UNKNOWN_SETTING = _Line(WARN, _REMOTE, "{name} is not known, and has no effect; see {known}")
    AUX_STATE_FAILED = _Line(
        WARN, _REMOTE, "{partition} auxiliary state not built: retry={attempt} {why}"
    )
    AUX_STATE_WAITS = _Line(
        WARN, _REMOTE, "{partition} auxiliary state not built yet: seconds={seconds}"
    )
    TIERING_OFF = _Line(
        WARN,
        _REMOTE,
        "the topic {topic} has remote.storage.enable=true and this broker "
        "remote.log.storage.system.enable=false: what is only in remote storage is not available",
    )
    PARTITION_REMOVED = _Line(INFO, _REMOTE, "{partition} has no remote data any more: id={id}")


class NodeLog:
    """Writes the lines of one node."""

    def __init__(self, node: str, clock: Clock, write: Callable[[str], None]) -> None:
        self._node = node
        self._clock = clock
        self._write = write

    def __call__(self, line: Lines, **values: object) -> None:
        """Write a line; ``values`` are what its text names."""
        level, logger, text = line.value
        at = time_of_day(self._clock.now_ms())
        said = text.format(**values)
        self._write(f"[{at}] {level} [{self._node}] {said} ({logger})")


def time_of_day(ms: int) -> str:
    """A time since 1970 as Kafka's log has it, in UTC; worked out here, where no clock is asked."""
    days, ms = divmod(ms, 86_400_000)
    seconds, ms = divmod(ms, 1000)
    # Years begin in March, so that a leap day is the last one; 400 years have 146097 days.
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    year, month = 400 * era + year + (month >= 10), month + 3 if month < 10 else month - 9
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{year:04}-{month:02}-{day:02} {clock},{ms:03}"


def discard(line: str) -> None:
    """Where nobody reads the log."""
