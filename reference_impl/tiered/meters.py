"""The metrics of tiered storage, by the document's names.

RemoteBytesIn is what a broker reads from the remote store, for whatever purpose (counted in
``metered_storage``), RemoteBytesOut what it copies there (C-38). Averages of idle slots are those
since the last time they were read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from reference_impl.metrics.registry import COUNTER, GAUGE, Metric, Registry

_TOPICS = "kafka.server:type=BrokerTopicMetrics,name="
_READERS = "kafka.log.remote:type=RemoteStorageThreadPool,name="
_MANAGER = "kafka.log.remote:type=RemoteLogManager,name="


def _per_topic(name: str, about: str) -> Metric:
    return Metric(name=f"{_TOPICS}{name},topic=*", kind=COUNTER, about=about, labels=("topic",))


READ_REQUESTS = _per_topic("RemoteReadRequestsPerSec", "reads of remote segments")
BYTES_IN = _per_topic("RemoteBytesInPerSec", "bytes read from the remote store")
READ_ERRORS = _per_topic("RemoteReadErrorPerSec", "reads of remote segments that failed")
BYTES_OUT = _per_topic("RemoteBytesOutPerSec", "bytes copied to the remote store")
WRITE_ERRORS = _per_topic("RemoteWriteErrorPerSec", "copies of segments that failed")
READER_QUEUE = Metric(
    name=f"{_READERS}RemoteLogReaderTaskQueueSize", kind=GAUGE, about="remote reads that wait"
)
READER_IDLE = Metric(
    name=f"{_READERS}RemoteLogReaderAvgIdlePercent", kind=GAUGE, about="idle part of the readers"
)
TASKS_IDLE = Metric(
    name=f"{_MANAGER}RemoteLogManagerTasksAvgIdlePercent",
    kind=GAUGE,
    about="idle part of the slots for copies and expiry",
)
COPY_LAG = Metric(
    name=f"{_MANAGER}RemoteCopyLagBytes",
    kind=GAUGE,
    about="bytes of finished segments of partitions led from here that are not copied yet",
)


class MeasuredPool(Protocol):
    """Slots, and how long they were in use so far, all together."""

    @property
    def busy_ns(self) -> int: ...


class TieredMeters:
    """The counters of one broker's tiered storage; gauges are added by those who know them."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.read_requests = registry.counter(READ_REQUESTS)
        self.bytes_in = registry.counter(BYTES_IN)
        self.read_errors = registry.counter(READ_ERRORS)
        self.bytes_out = registry.counter(BYTES_OUT)
        self.write_errors = registry.counter(WRITE_ERRORS)

    def gauge(self, metric: Metric, read: Callable[[], float]) -> None:
        """Show a value that is worked out when it is asked for."""
        self._registry.gauge(metric, read)

    def idle(
        self,
        metric: Metric,
        pool: MeasuredPool,
        size: Callable[[], int],
        now_ns: Callable[[], int],
    ) -> None:
        """Show which part of a pool's slots was idle on average, 0 to 1."""
        last_ns, last_busy_ns, shown = now_ns(), pool.busy_ns, 1.0

        def read() -> float:
            nonlocal last_ns, last_busy_ns, shown
            at, busy = now_ns(), pool.busy_ns
            if at > last_ns:
                shown = 1 - (busy - last_busy_ns) / ((at - last_ns) * size())
                last_ns, last_busy_ns = at, busy
            return max(0.0, shown)

        self._registry.gauge(metric, read)
