"""What a remote storage manager is asked, as the document's interface has it (C-04)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from conformance.tiered.plug_ins.bench import Bench, Case, data_of, outcome, segment
from reference_impl.tiered.storage import IndexKind

TEN = b"0123456789"
SEGMENT = segment(1, first=6, last=8)


async def _copied(bench: Bench) -> None:
    await bench.storage.copy_log_segment_data(SEGMENT, data_of(TEN))


async def _whole(bench: Bench) -> str:
    await _copied(bench)
    read = [await outcome(bench.storage.fetch_log_segment(SEGMENT, 0))]
    read += [await outcome(bench.storage.fetch_index(SEGMENT, kind)) for kind in IndexKind]
    return " ".join(read)


async def _again(bench: Bench) -> str:
    await _copied(bench)
    fresh = data_of(b"other", transactions=None)
    ended = await outcome(bench.storage.copy_log_segment_data(SEGMENT, fresh))
    read = await outcome(bench.storage.fetch_log_segment(SEGMENT, 0))
    return f"{ended}: {read}: {await bench.parts()}"


async def _same_again(bench: Bench) -> str:
    await _copied(bench)
    ended = await outcome(bench.storage.copy_log_segment_data(SEGMENT, data_of(TEN)))
    return f"{ended}: {await outcome(bench.storage.fetch_log_segment(SEGMENT, 0))}"


async def _down(bench: Bench) -> str:
    bench.store.down = True
    ended = await outcome(bench.storage.copy_log_segment_data(SEGMENT, data_of(TEN)))
    return f"{ended}: {await bench.parts()}".rstrip()


async def _half(bench: Bench) -> str:
    """The indexes come before the segment: what has a segment has its indexes."""
    bench.store.puts = 5
    ended = await outcome(bench.storage.copy_log_segment_data(SEGMENT, data_of(TEN)))
    bench.store.puts = None
    return f"{ended}: {await outcome(bench.storage.fetch_log_segment(SEGMENT, 0))}"


async def _after_half(bench: Bench) -> str:
    bench.store.puts = 3
    await outcome(bench.storage.copy_log_segment_data(SEGMENT, data_of(b"torn")))
    bench.store.puts = None
    ended = await outcome(bench.storage.copy_log_segment_data(SEGMENT, data_of(TEN)))
    return f"{ended}: {await outcome(bench.storage.fetch_log_segment(SEGMENT, 0))}"


def _range(start: int, end: int | None) -> Case:
    async def case(bench: Bench) -> str:
        await _copied(bench)
        return await outcome(bench.storage.fetch_log_segment(SEGMENT, start, end))

    return case


async def _missing_segment(bench: Bench) -> str:
    return await outcome(bench.storage.fetch_log_segment(SEGMENT, 0, 3))


async def _segment_down(bench: Bench) -> str:
    await _copied(bench)
    bench.store.down = True
    return await outcome(bench.storage.fetch_log_segment(SEGMENT, 0))


async def _missing_index(bench: Bench) -> str:
    plain = data_of(TEN, transactions=None)
    await bench.storage.copy_log_segment_data(SEGMENT, plain)
    return await outcome(bench.storage.fetch_index(SEGMENT, IndexKind.TRANSACTION))


async def _index_down(bench: Bench) -> str:
    await _copied(bench)
    bench.store.down = True
    return await outcome(bench.storage.fetch_index(SEGMENT, IndexKind.OFFSET))


async def _deleted(bench: Bench) -> str:
    await _copied(bench)
    ended = await outcome(bench.storage.delete_log_segment_data(SEGMENT))
    return f"{ended}: {await bench.parts()}".rstrip()


async def _deleted_twice(bench: Bench) -> str:
    await _copied(bench)
    await bench.storage.delete_log_segment_data(SEGMENT)
    return await outcome(bench.storage.delete_log_segment_data(SEGMENT))


async def _deleted_half(bench: Bench) -> str:
    bench.store.puts = 3
    await outcome(bench.storage.copy_log_segment_data(SEGMENT, data_of(TEN)))
    bench.store.puts = None
    ended = await outcome(bench.storage.delete_log_segment_data(SEGMENT))
    return f"{ended}: {await bench.parts()}".rstrip()


async def _delete_down(bench: Bench) -> str:
    await _copied(bench)
    bench.store.down = True
    return await outcome(bench.storage.delete_log_segment_data(SEGMENT))


async def _other_copy(bench: Bench) -> str:
    """Two copies of one segment share nothing."""
    other = segment(2, first=6, last=8)
    await _copied(bench)
    await bench.storage.copy_log_segment_data(other, data_of(b"other"))
    await bench.storage.delete_log_segment_data(other)
    return await outcome(bench.storage.fetch_log_segment(SEGMENT, 0))


STORAGE_CASES: Mapping[str, Case] = MappingProxyType(
    {
        "copy/whole": _whole,
        "copy/over-another": _again,
        "copy/the-same-again": _same_again,
        "copy/store-down": _down,
        "copy/half": _half,
        "copy/after-half": _after_half,
        "copy/beside-another": _other_copy,
        "fetch/from-the-middle": _range(4, None),
        "fetch/both-ends": _range(2, 5),
        "fetch/one-byte": _range(9, 9),
        "fetch/end-beyond": _range(8, 99),
        "fetch/start-beyond": _range(10, 12),
        "fetch/below-zero": _range(-1, 3),
        "fetch/backwards": _range(5, 4),
        "fetch/largest-end": _range(8, 2**31 - 1),
        "fetch/beyond-any-segment": _range(8, 2**31),
        "fetch/no-such-segment": _missing_segment,
        "fetch/store-down": _segment_down,
        "index/missing": _missing_index,
        "index/store-down": _index_down,
        "delete/all": _deleted,
        "delete/twice": _deleted_twice,
        "delete/half-a-copy": _deleted_half,
        "delete/store-down": _delete_down,
    }
)
