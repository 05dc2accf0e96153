"""Files of a metadata manager, lines of the formatter, indexes on disk: what stands in them.

One segment of `orders`-0 goes through all of them: offsets 6 to 8, epochs 2 and 3, a mebibyte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from uuid import UUID

from conformance.tiered.plug_ins.bench import Bench, Case, segment
from conformance.tiered.plug_ins.managers import ORDERS
from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.flat_file import COMMITTED_OFFSETS, FOLDER, MetadataFiles, file_name
from reference_impl.tiered.formatter import RemoteLogMetadataFormatter
from reference_impl.tiered.index_cache import FOLDER as INDEX_FOLDER
from reference_impl.tiered.index_cache import IndexCache
from reference_impl.tiered.segment_cache import SegmentCache
from reference_impl.tiered.segments import (
    MetadataEvent,
    PartitionDeleteState,
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    RemoteLogSegmentMetadataUpdate,
    RemotePartitionDeleteMetadata,
    SegmentState,
)
from reference_impl.tiered.storage import IndexKind
from reference_impl.tiered.topic_state import start_position

_ID = RemoteLogSegmentId(ORDERS, UUID("f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff"))
_SECOND_MS = 1600000000000
STARTED = RemoteLogSegmentMetadata(
    segment_id=_ID,
    start_offset=6,
    end_offset=8,
    leader_epoch=3,
    max_timestamp_ms=_SECOND_MS,
    event_timestamp_ms=_SECOND_MS + 1000,
    segment_leader_epochs=(EpochEntry(2, 5), EpochEntry(3, 7)),
    segment_size_bytes=1 << 20,
)
FINISHED = RemoteLogSegmentMetadataUpdate(
    segment_id=_ID,
    leader_epoch=3,
    event_timestamp_ms=_SECOND_MS + 2000,
    state=SegmentState.COPY_SEGMENT_FINISHED,
)
MARKED = RemotePartitionDeleteMetadata(
    partition=ORDERS,
    epoch=7,
    event_timestamp_ms=_SECOND_MS + 3000,
    state=PartitionDeleteState.DELETE_PARTITION_MARKED,
)


def _after(*events: MetadataEvent) -> SegmentCache:
    cache = SegmentCache(ORDERS)
    for one in events:
        cache.apply(one)
    return cache


# ── local files ──────────────────────────────────────────────────────────────────────────────────


async def _flat_file(bench: Bench) -> str:
    await MetadataFiles(bench.disk).store(_after(STARTED, FINISHED, MARKED), 2022)
    return (bench.folder / FOLDER / file_name(ORDERS)).read_bytes().hex()


async def _flat_name(bench: Bench) -> str:
    await MetadataFiles(bench.disk).store(_after(STARTED), 1)
    found = [one.name for one in (bench.folder / FOLDER).iterdir() if not one.suffix]
    return " ".join(sorted(found))


async def _flat_order(bench: Bench) -> str:
    """Segments by start offset and id; one that is deleted is not kept."""
    events = [segment(3, first=20), segment(2, first=0), segment(1, first=10), segment(4, first=0)]
    cache = _after(*events, STARTED, FINISHED, _deleting(2), _deleting(3))
    await MetadataFiles(bench.disk).store(cache, 9)
    kept = await MetadataFiles(bench.disk).load(ORDERS)
    if kept is None:
        return "missing"
    return " ".join(str(one.segment_id.id.int) for one in kept.cache.segments())


def _deleting(state: int) -> RemoteLogSegmentMetadataUpdate:
    return replace(FINISHED, event_timestamp_ms=_SECOND_MS + 2500, state=SegmentState(state))


async def _flat_read(bench: Bench) -> str:
    files = MetadataFiles(bench.disk)
    await files.store(_after(STARTED, FINISHED), 2021)
    kept = await files.load(ORDERS)
    if kept is None:
        return "missing"
    found = kept.cache.segment_for(3, 8)
    return f"{kept.next_offset} {'lost' if found is None else int(found.state)}"


def _flat_damaged(at: int, *, cut: bool = False) -> Case:
    async def case(bench: Bench) -> str:
        files = MetadataFiles(bench.disk)
        await files.store(_after(STARTED, FINISHED), 2021)
        path = bench.folder / FOLDER / file_name(ORDERS)
        data = bytearray(path.read_bytes())
        if cut:
            data = data[:at]
        else:
            data[at] ^= 1
        path.write_bytes(data)
        return "missing" if await files.load(ORDERS) is None else "taken"

    return case


async def _committed(bench: Bench) -> str:
    await MetadataFiles(bench.disk).store_committed({0: 2022, 4: 104, 2: 498})
    return (bench.folder / COMMITTED_OFFSETS).read_text("ascii").replace("\n", "|")


def _committed_read(text: str) -> Case:
    async def case(bench: Bench) -> str:
        (bench.folder / COMMITTED_OFFSETS).write_text(text, "ascii")
        found = await MetadataFiles(bench.disk).load_committed()
        if found is None:
            return "missing"
        return " ".join(f"{one}:{found[one]}" for one in sorted(found))

    return case


def _begins(committed: int | None, kept: int | None) -> Case:
    async def case(bench: Bench) -> str:
        return str(start_position(committed, kept))

    return case


# ── the formatter ────────────────────────────────────────────────────────────────────────────────


def _line(event: MetadataEvent, *properties: str) -> Case:
    async def case(bench: Bench) -> str:
        said = dict(one.split("=", 1) for one in properties)
        return RemoteLogMetadataFormatter(said).line(event, partition=23, offset=2019)

    return case


_ALL = (
    "print.partition=true",
    "print.message.offset=true",
    "print.version=TRUE",
    "print.all.event.value.fields=true",
)

# ── indexes on disk ──────────────────────────────────────────────────────────────────────────────


def _cached(limit: int, *uses: int) -> Case:
    """Indexes of 10 bytes and a checksum are put, one after the other; a use below 0 reads."""

    async def case(bench: Bench) -> str:
        cache = IndexCache(bench.disk, "", lambda: limit)
        for one in uses:
            if one < 0:
                await cache.get(segment(-one, first=-one), IndexKind.OFFSET)
            else:
                await cache.put(segment(one, first=one), IndexKind.OFFSET, b"ten bytes.")
        folder = bench.folder / INDEX_FOLDER
        names = sorted(one.name for one in folder.glob("*.index")) if folder.exists() else []
        return " ".join(str(int(name.partition("_")[0])) for name in names)

    return case


async def _cached_again(bench: Bench) -> str:
    await IndexCache(bench.disk, "", lambda: 99).put(STARTED, IndexKind.OFFSET, b"offsets")
    found = await IndexCache(bench.disk, "", lambda: 99).get(STARTED, IndexKind.OFFSET)
    return "-" if found is None else found.decode()


FILE_CASES: Mapping[str, Case] = MappingProxyType(
    {
        "flat-file/bytes": _flat_file,
        "flat-file/name": _flat_name,
        "flat-file/order": _flat_order,
        "flat-file/read-again": _flat_read,
        "flat-file/torn": _flat_damaged(40, cut=True),
        "flat-file/other-magic": _flat_damaged(0),
        "flat-file/other-topic": _flat_damaged(4),
        "flat-file/other-state": _flat_damaged(-1),
        "committed/bytes": _committed,
        "committed/any-order": _committed_read("0 2022\n4 104\n2 498\n"),
        "committed/bad-line": _committed_read("0 2022\n4\n"),
        "committed/torn": _committed_read("0 2022\n4 10"),
        "restart/both": _begins(2022, 2019),
        "restart/committed-behind": _begins(2000, 2019),
        "restart/no-file": _begins(2022, None),
        "restart/not-committed": _begins(None, 2019),
        "formatter/segment": _line(STARTED),
        "formatter/update": _line(FINISHED),
        "formatter/deletion": _line(MARKED),
        "formatter/everything": _line(STARTED, *_ALL),
        "formatter/separator": _line(FINISHED, "separator=;", "print.version=true"),
        "formatter/not-true": _line(FINISHED, "print.partition=yes", "print.version=false"),
        "index-cache/within": _cached(42, 1, 2, 3),
        "index-cache/beyond": _cached(42, 1, 2, 3, 4),
        "index-cache/used-stays": _cached(42, 1, 2, 3, -1, 4),
        "index-cache/two-go": _cached(28, 1, 2, 3, 4),
        "index-cache/too-large": _cached(13, 1),
        "index-cache/just-fits": _cached(14, 1, 2),
        "index-cache/after-restart": _cached_again,
    }
)
