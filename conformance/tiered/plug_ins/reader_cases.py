"""Indexes of remote segments that are missing or damaged, the pool of readers, waits of retries.

The segment has five batches of two records at offsets 10 to 19, an index entry for each batch but
the first, and timestamps 100 times the offset.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from random import Random
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

from conformance.tiered.plug_ins.bench import Bench, Case, outcome, segment
from reference_impl.kafka.batches import header
from reference_impl.kafka.records import build_batch
from reference_impl.log.indexes import OffsetIndex, TimeIndex
from reference_impl.log.transactions import AbortedTransaction, encode_aborted
from reference_impl.ports import Ports
from reference_impl.tiered.index_cache import IndexCache
from reference_impl.tiered.reader_pool import PoolFull, ReaderPool
from reference_impl.tiered.remote_indexes import RemoteIndexes
from reference_impl.tiered.settings import TieredSettings
from reference_impl.tiered.storage import IndexKind, LogSegmentData
from reference_impl.tiered.tier import Tier

_STARTS = range(10, 20, 2)
_BATCHES = tuple(
    build_batch(
        [(100 * at, None, b"a"), (100 * (at + 1), None, b"b")], base_offset=at, leader_epoch=0
    )
    for at in _STARTS
)
_SIZE = len(_BATCHES[0])
_SEGMENT = replace(segment(1, first=10, last=19, size=_SIZE * len(_BATCHES)), max_timestamp_ms=1900)


def _offsets(*entries: tuple[int, int]) -> bytes:
    index = OffsetIndex(10)
    for offset, place in entries:
        index.add(offset, place)
    return index.encoded(0)


def _times(*entries: tuple[int, int]) -> bytes:
    index = TimeIndex(10)
    for timestamp, offset in entries:
        index.add(timestamp, offset)
    return index.encoded(0)


_OFFSETS = _offsets((13, _SIZE), (15, 2 * _SIZE), (17, 3 * _SIZE), (19, 4 * _SIZE))
_TIMES = _times((1300, 13), (1500, 15), (1700, 17), (1900, 19))


def _shifted(batch: bytes, by: int) -> bytes:
    """Its base offset stands outside its checksum."""
    return (header(batch).base_offset + by).to_bytes(8, "big") + batch[8:]


async def _kept(
    bench: Bench,
    *,
    gone: IndexKind | None = None,
    batches: tuple[bytes, ...] = _BATCHES,
    **more: Any,
) -> RemoteIndexes:
    """Indexes of a segment in the store, with one of them gone or another."""
    data = LogSegmentData(
        segment=b"".join(batches),
        offset_index=more.get("offsets", _OFFSETS),
        time_index=more.get("times", _TIMES),
        producer_snapshot=b"",
        leader_epochs=b"",
        transaction_index=more.get("aborted"),
    )
    await bench.storage.copy_log_segment_data(_SEGMENT, data)
    if gone is not None:
        key = next(one.key for one in await bench.store.list() if f"/{_PARTS[gone]}" in one.key)
        await bench.store.delete([key])
    return RemoteIndexes(bench.storage, IndexCache(bench.disk, "", lambda: 1 << 20))


_PARTS = {IndexKind.OFFSET: "offset.index", IndexKind.TIMESTAMP: "time.index"}


def _found(**more: Any) -> Case:
    """For each offset: in front of which batch the offset index leads."""

    async def case(bench: Bench) -> str:
        index = await (await _kept(bench, **more)).offsets(_SEGMENT, 0)
        return " ".join(str(index.place_before(one) // _SIZE) for one in range(10, 20))

    return case


def _timed(**more: Any) -> Case:
    """For some timestamps: behind which offset the time index leads."""

    async def case(bench: Bench) -> str:
        index = await (await _kept(bench, **more)).times(_SEGMENT, 0)
        return " ".join(str(index.offset_before(one)) for one in (1000, 1300, 1500, 1700, 1900))

    return case


def _aborted(**more: Any) -> Case:
    async def case(bench: Bench) -> str:
        found = await (await _kept(bench, **more)).aborted(_SEGMENT)
        return " ".join(f"{one.producer_id}:{one.first_offset}-{one.last_offset}" for one in found)

    return case


def _ends(first: int, last: int) -> bytes:
    one = AbortedTransaction(
        producer_id=7, first_offset=first, last_offset=last, last_stable_offset=first
    )
    return encode_aborted((one,))


async def _asked_once(bench: Bench) -> str:
    """An index that is on the disk is not fetched again."""
    await (await _kept(bench)).offsets(_SEGMENT, 0)
    bench.store.down = True
    again = RemoteIndexes(bench.storage, IndexCache(bench.disk, "", lambda: 1 << 20))
    return await outcome(again.offsets(_SEGMENT, 0))


# ── the pool ─────────────────────────────────────────────────────────────────────────────────────


def _pool(threads: int, pending: int, asked: int) -> Case:
    """So many readers are asked for at once: how many read, wait and are refused."""

    async def case(bench: Bench) -> str:
        pool = ReaderPool(lambda: threads, lambda: pending, lambda: 0)
        done, refused = asyncio.Event(), 0

        async def read() -> bool:
            try:
                async with pool.reader():
                    await done.wait()
                return True
            except PoolFull:
                return False

        async with AsyncExitStack() as stack:
            stack.callback(done.set)
            tasks = [asyncio.ensure_future(read()) for _ in range(asked)]
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            seen = f"{pool.busy} read, {pool.task_queue_size} wait"
        refused = [await one for one in tasks].count(False)
        return f"{seen}, {refused} refused"

    return case


def _waits(jitter: float, drawn: float, *said: int) -> Case:
    """How long a task waits before its first retries."""

    async def case(bench: Bench) -> str:
        rng = cast(Random, SimpleNamespace(random=lambda: drawn))
        settings = TieredSettings(retry_jitter=jitter)
        tier = SimpleNamespace(
            ports=cast(Ports, SimpleNamespace(rng=rng)), settings=lambda: settings
        )
        return " ".join(f"{Tier.backoff_ms(cast(Tier, tier), one):g}" for one in said)

    return case


READER_CASES: Mapping[str, Case] = MappingProxyType(
    {
        "offset-index/sound": _found(),
        "offset-index/missing": _found(gone=IndexKind.OFFSET),
        "offset-index/torn": _found(offsets=_OFFSETS[:-3]),
        "offset-index/falls": _found(offsets=_OFFSETS[8:16] + _OFFSETS[:8]),
        "offset-index/beyond-the-segment": _found(offsets=_offsets((20, _SIZE))),
        "offset-index/its-last-offset": _found(offsets=_offsets((19, 4 * _SIZE))),
        "offset-index/gap-in-segment": _found(
            gone=IndexKind.OFFSET, batches=(*_BATCHES[:2], _shifted(_BATCHES[2], 1), *_BATCHES[3:])
        ),
        "offset-index/batch-beyond-segment": _found(
            gone=IndexKind.OFFSET, batches=(*_BATCHES[:4], _shifted(_BATCHES[4], 2))
        ),
        "time-index/sound": _timed(),
        "time-index/missing": _timed(gone=IndexKind.TIMESTAMP),
        "time-index/beyond-the-segment": _timed(times=_times((1900, 20))),
        "time-index/later-than-any": _timed(times=_times((1901, 19))),
        "transaction-index/missing": _aborted(),
        "transaction-index/sound": _aborted(aborted=_ends(12, 15)),
        "transaction-index/begins-before": _aborted(aborted=_ends(3, 10)),
        "transaction-index/torn": _aborted(aborted=_ends(12, 15)[:-1]),
        "transaction-index/beyond-the-segment": _aborted(aborted=_ends(12, 20)),
        "transaction-index/before-the-segment": _aborted(aborted=_ends(3, 9)),
        "index-cache/asked-once": _asked_once,
        "pool/idle": _pool(2, 1, 1),
        "pool/all-busy": _pool(2, 1, 3),
        "pool/queue-full": _pool(2, 1, 5),
        "pool/queue-of-two": _pool(1, 2, 4),
        "retry/without-jitter": _waits(0.0, 0.9, 0, 1, 2, 5, 6, 99),
        "retry/later": _waits(0.2, 1.0, 0, 1, 5, 6),
        "retry/sooner": _waits(0.2, 0.0, 0, 1, 5, 6),
    }
)
