"""The metrics of the document: what stands of each on the page of a broker; what a read counts."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from conformance.tiered.plug_ins.bench import Bench, Case, data_of, outcome, segment
from reference_impl.metrics.registry import Registry
from reference_impl.tiered.metered_storage import MeteredStorage
from reference_impl.tiered.meters import READER_IDLE, READER_QUEUE, TASKS_IDLE, TieredMeters
from reference_impl.tiered.reader_pool import ReaderPool
from reference_impl.tiered.segments import RemoteLogSegmentMetadata
from reference_impl.tiered.storage import IndexKind

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


async def _copied(bench: Bench, *, whole: bool = True) -> RemoteLogSegmentMetadata:
    metadata = segment(1, size=10)
    data = data_of(b"0123456789", transactions=b"transactions" if whole else None)
    await bench.storage.copy_log_segment_data(metadata, data)
    return metadata


Read = Callable[[MeteredStorage, RemoteLogSegmentMetadata], Awaitable[object]]


def _counted(read: Read, *, whole: bool = True, gone: bool = False, down: bool = False) -> Case:
    """What the counters of a topic have risen to by a read: calls, bytes, errors."""

    async def case(bench: Bench) -> str:
        meters = TieredMeters(Registry())
        metadata = await _copied(bench, whole=whole)
        if gone:
            await bench.storage.delete_log_segment_data(metadata)
        bench.store.down = down
        end = await outcome(read(MeteredStorage(bench.storage, meters), metadata))
        counters = (meters.read_requests, meters.bytes_in, meters.read_errors)
        calls, size, errors = (one.values.get(("orders",), 0) for one in counters)
        return f"{end}: {calls} calls, {size} bytes, {errors} errors"

    return case


def _some(storage: MeteredStorage, metadata: RemoteLogSegmentMetadata) -> Awaitable[object]:
    return storage.fetch_log_segment(metadata, 2, 5)


def _index(kind: IndexKind) -> Read:
    return lambda storage, metadata: storage.fetch_index(metadata, kind)


async def _index_and_segment(storage: MeteredStorage, metadata: RemoteLogSegmentMetadata) -> bytes:
    await storage.fetch_index(metadata, IndexKind.TIMESTAMP)
    return await storage.fetch_log_segment(metadata, 0)


METRIC_CASES: Mapping[str, Case] = MappingProxyType(
    {
        **{f"metrics/{name}": _metric(name) for name in _NAMES},
        "counted/part-of-a-segment": _counted(_some),
        "counted/leader-epochs": _counted(_index(IndexKind.LEADER_EPOCH)),
        "counted/index-and-segment": _counted(_index_and_segment),
        "counted/no-transactions": _counted(_index(IndexKind.TRANSACTION), whole=False),
        "counted/segment-gone": _counted(_some, gone=True),
        "counted/index-gone": _counted(_index(IndexKind.OFFSET), gone=True),
        "counted/store-down": _counted(_some, down=True),
    }
)
