"""Compaction of a coordinator's log: what counts is appended again, and the log begins there.

There is no cleaner that rewrites segments. The leader that knows every live entry appends all of
them behind what is there, in its turn, so that later changes come behind them; once they are
committed, nothing before the first of them is needed to read the log. A crash between the steps
leaves the log longer than it need be, and what it says is the same. Followers hear of the new start
with their fetches, and segments below it go by retention.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reference_impl.kafka.errors import ErrorCode, KafkaError
from reference_impl.kafka.records import build_batch
from reference_impl.log.log import Log
from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.writing import Pending, acknowledged

Live = tuple[bytes, bytes]
"""Key and value of a record that counts."""

LEAST_RECORDS = 100_000
"""A log with fewer records is read at once by whoever takes over."""
TIMES_LIVE = 4
"""The log may be so many times as long as what counts of it."""
_BATCH_BYTES = 256 << 10
_ALL = -1


def is_worth_it(log: Log, live: int) -> bool:
    """The log is long, little of it counts, and all of it is committed: a copy that is not
    committed yet is not followed by another."""
    length = log.log_end_offset - log.log_start_offset
    committed = log.high_watermark == log.log_end_offset
    return committed and length >= LEAST_RECORDS and length >= TIMES_LIVE * live


async def append_again(
    partition: LogicalPartition, live: Iterable[Live], *, now_ms: int, leader_epoch: int
) -> list[Pending]:
    """Append all that counts; to be called in the turn of the log, with nothing on its way."""
    return [
        await partition.append(
            build_batch([(now_ms, key, value) for key, value in some]),
            acks=_ALL,
            leader_epoch=leader_epoch,
        )
        for some in _batches(live)
    ]


async def begin_there(log: Log, first: int, appended: list[Pending], *, timeout_s: float) -> bool:
    """Let the log begin with what was appended again, if all of that is committed."""
    ended = await acknowledged(appended, timeout_s=timeout_s) if appended else []
    if any(one.error is not ErrorCode.none for one in ended):
        return False
    try:
        await log.advance_log_start_offset(first)
    except KafkaError:  # the log was cut meanwhile: another broker leads
        return False
    return True


def _batches(live: Iterable[Live]) -> Iterator[list[Live]]:
    some: list[Live] = []
    size = 0
    for key, value in live:
        if some and size + len(key) + len(value) > _BATCH_BYTES:
            yield some
            some, size = [], 0
        some.append((key, value))
        size += len(key) + len(value)
    if some:
        yield some
