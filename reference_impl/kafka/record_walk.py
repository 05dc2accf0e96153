"""One pass over the records of a batch: is their structure sound, and what do they claim?

Kafka's leader reads every record of a batch before it appends it. Most of what it looks at can only
be learned record by record, so this is the one loop of the broker that runs per record. It is
written once, in the part of Python that numba compiles: interpreted it costs microseconds a record,
compiled (``compile_walk``, for a live broker that has much to do) nanoseconds, and the time the
memory takes. Both give the same answers; a test compares them.

What is returned is a verdict, not an explanation:

    SOUND       as many records as the header says, and no byte more
    INVALID     Kafka's INVALID_RECORD: a length, number or end that does not fit
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from reference_impl.kafka.batches import Bytes

SOUND = 0
INVALID = 1

_Answer: TypeAlias = tuple[int, int, int, int, int]


class Walked(NamedTuple):
    """What the records of a batch say of themselves."""

    verdict: int
    min_delta: int  # of the timestamps, against the base timestamp
    max_delta: int
    keyless: int  # how many records have no key
    out_of_place: int  # how many have another offset than their place in the batch


def varint(data: Bytes, at: int, end: int, most: int) -> tuple[int, int]:
    """A zigzag number and where it ends; where there is none of that many bytes, -1 as its end."""
    value = 0
    shift = 0
    while shift < most and at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at
        shift += 7
    return 0, -1


def skip(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """The size of nullable bytes and where they end; -1 as their end where they do not fit."""
    size, at = varint(data, at, end, 35)
    if at < 0 or size > end - at:
        return 0, -1
    return size, at + max(size, 0)


def skip_headers(data: Bytes, at: int, end: int) -> int:
    """Where the headers of a record end, or -1."""
    count, at = varint(data, at, end, 35)
    if at < 0 or count < 0 or count > end - at:
        return -1
    for _ in range(count):
        size, at = skip(data, at, end)
        if at < 0 or size < 0:
            return -1
        size, at = skip(data, at, end)
        if at < 0:
            return -1
    return at


def walk(data: Bytes, at: int, end: int, count: int, sized: int) -> _Answer:
    """Go over the records; ``sized`` says whether the size of each is held against its contents."""
    lowest = highest = keyless = out_of_place = 0
    for index in range(count):
        size, at = varint(data, at, end, 35)
        body = at
        if at < 0 or (sized and (size > end - at or size < 1)) or at >= end:
            return INVALID, 0, 0, 0, 0
        delta, at = varint(data, at + 1, end, 63)
        if at < 0:
            return INVALID, 0, 0, 0, 0
        offset_delta, at = varint(data, at, end, 35)
        if at < 0:
            return INVALID, 0, 0, 0, 0
        key, at = skip(data, at, end)
        if at < 0:
            return INVALID, 0, 0, 0, 0
        _, at = skip(data, at, end)
        if at < 0:
            return INVALID, 0, 0, 0, 0
        at = skip_headers(data, at, end)
        if at < 0 or (sized and at - body != size):
            return INVALID, 0, 0, 0, 0
        lowest = min(lowest, delta) if index else delta
        highest = max(highest, delta) if index else delta
        keyless += key < 0
        out_of_place += offset_delta != index
    return (SOUND if at == end else INVALID), lowest, highest, keyless, out_of_place


Walk: TypeAlias = Callable[[Bytes, int, int, int, bool], Walked]


def interpreted(data: Bytes, at: int, end: int, count: int, sized: bool) -> Walked:
    """The walk as Python runs it."""
    return Walked(*walk(data, at, end, count, sized))


_in_use: list[Walk] = [interpreted]


def walk_records(data: Bytes, at: int, end: int, count: int, sized: bool) -> Walked:
    """The walk, by whatever runs it in this process."""
    return _in_use[0](data, at, end, count, sized)


def use(walk: Walk) -> None:
    """Walk like that from now on."""
    _in_use[0] = walk


def compile_walk() -> Walk:
    """Compile the walk and use it from now on; takes a second the first time on a machine."""
    import numba
    import numpy
    from numba.extending import register_jitable

    for helper in (varint, skip, skip_headers):
        register_jitable(helper)
    place = numba.types.Array(numba.uint8, 1, "C", readonly=True)
    number = numba.int64
    answer = numba.types.UniTuple(number, 5)  # type: ignore[no-untyped-call]
    signature = answer(place, number, number, number, number)
    try:
        compiled = numba.njit([signature], cache=True, nogil=True)(walk)
    except RuntimeError:  # nowhere to keep what was compiled
        compiled = numba.njit([signature], nogil=True)(walk)

    def run(data: Bytes, at: int, end: int, count: int, sized: bool) -> Walked:
        view = memoryview(data).toreadonly()
        array: Any = numpy.frombuffer(view, numpy.uint8)
        return Walked(*compiled(array, at, end, count, 1 if sized else 0))

    use(run)
    return run
