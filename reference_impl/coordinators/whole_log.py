"""A coordinator's log, read from its beginning to its end when leadership begins."""

from __future__ import annotations

from collections.abc import AsyncIterator

from reference_impl.kafka.batches import Batch, Bytes, batches
from reference_impl.log.log import Log

_READ_BYTES = 1 << 20


async def whole_log(log: Log) -> AsyncIterator[tuple[Bytes, int, Batch]]:
    """Every batch, and where in which bytes it lies."""
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        data = await log.read(
            offset, max_bytes=_READ_BYTES, upto=log.log_end_offset, at_least_one=True
        )
        if not data:
            break
        for at, batch in batches(data):
            offset = batch.next_offset
            yield data, at, batch
