"""The metrics of the document, by name: what stands of each on the page of a broker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from conformance.tiered.plug_ins.bench import Bench, Case
from reference_impl.metrics.registry import Registry
from reference_impl.tiered.meters import READER_IDLE, READER_QUEUE, TASKS_IDLE, TieredMeters
from reference_impl.tiered.reader_pool import ReaderPool

_NAMES = (
    "RemoteReadRequestsPerSec",
    "RemoteBytesInPerSec",
    "RemoteReadErrorPerSec",
    "RemoteLogReaderTaskQueueSize",
    "RemoteLogReaderAvgIdlePercent",
    "RemoteLogManagerTasksAvgIdlePercent",
    "RemoteBytesOutPerSec",
    "RemoteWriteErrorPerSec",
)


def _page() -> str:
    registry = Registry()
    meters = TieredMeters(registry)
    pool = ReaderPool(lambda: 2, lambda: 2, lambda: 0)
    meters.gauge(READER_QUEUE, lambda: pool.task_queue_size)
    for idle in (READER_IDLE, TASKS_IDLE):
        meters.idle(idle, pool, lambda: 2, lambda: 0)
    counters = (meters.read_requests, meters.bytes_in, meters.read_errors)
    for one in (*counters, meters.bytes_out, meters.write_errors):
        one.add(("orders",))
    return registry.page()


def _metric(name: str) -> Case:
    async def case(bench: Bench) -> str:
        page = _page().splitlines()
        exposed = [one.split()[2] for one in page if re.search(rf"# HELP .*name={name}[,:]", one)]
        kinds = [one.split()[3] for one in page if one.split()[:3] == ["#", "TYPE", *exposed]]
        samples = [one for one in page if one.startswith(tuple(exposed) or "-")]
        by_topic = ", by topic" if any('topic="orders"' in one for one in samples) else ""
        return f"{' '.join(kinds)}{by_topic}" if samples else "not there"

    return case


METRIC_CASES: Mapping[str, Case] = MappingProxyType(
    {f"metrics/{name}": _metric(name) for name in _NAMES}
)
