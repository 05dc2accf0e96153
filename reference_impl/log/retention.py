"""Retention: how many of a log's oldest segments may go.

Segments go from the oldest on, as long as one reason applies to each and everything in it is
committed; the first that has to stay keeps all behind it. An empty active segment always stays. If
all may go, the log first begins a new segment, so the active one can expire too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from reference_impl.log.config import LogConfig
from reference_impl.log.decisions import (
    local_segment_may_go,
    segment_below_start,
    segment_exceeds_size,
    segment_expired,
    segment_may_go,
)
from reference_impl.log.segment import Segment

Reason: TypeAlias = Callable[[Segment, Segment | None], bool]


def below_start(log_start_offset: int) -> Reason:
    """The log begins behind it."""
    return lambda _, after: segment_below_start(
        None if after is None else after.base_offset, log_start_offset
    )


def too_much(log_size: int, retention_bytes: int) -> Reason:
    """Without it, and those before it, the log still is as large as it should be."""
    left = log_size

    def exceeds(segment: Segment, _: Segment | None) -> bool:
        nonlocal left
        if not segment_exceeds_size(left, segment.size, retention_bytes):
            return False
        left -= segment.size
        return True

    return exceeds


def too_old(now_ms: int, retention_ms: int) -> Reason:
    """Its latest record is older than records should be."""
    return lambda segment, _: segment_expired(segment.largest_timestamp, now_ms, retention_ms)


def kept_elsewhere(upto: int) -> Reason:
    """It ends there or earlier, and is not the one that is written to."""
    return lambda _, after: local_segment_may_go(None if after is None else after.base_offset, upto)


def reasons(
    config: LogConfig | None, log_start_offset: int, log_size: Callable[[], int], now_ms: int
) -> list[Callable[[], Reason]]:
    """Why segments go, one after the other: each looks at what the one before has left.

    Without a configuration, size and age are another's concern: the log start alone counts.
    """
    found: list[Callable[[], Reason]] = [lambda: below_start(log_start_offset)]
    if config is not None and config.delete:
        found.append(lambda: too_much(log_size(), config.retention_bytes))
        found.append(lambda: too_old(now_ms, config.retention_ms))
    return found


def deletable(
    segments: Sequence[Segment], log_end_offset: int, high_watermark: int, reason: Reason
) -> int:
    """How many segments may go for this reason."""
    count = 0
    for number, segment in enumerate(segments):
        after = segments[number + 1] if number + 1 < len(segments) else None
        end = log_end_offset if after is None else after.base_offset
        if not segment_may_go(end, high_watermark) or not reason(segment, after):
            break
        if after is None and segment.size == 0:
            break
        count += 1
    return count


def most_with_snapshot(segments: Sequence[Segment], snapshots: Sequence[int], most: int) -> int:
    """How many may go at the most, so that a snapshot of the producers lies where the rest begins.

    It may have been lost with power, as long as the segments before could tell the same.
    """
    counts = range(most, 0, -1)
    return next((one for one in counts if segments[one].base_offset in snapshots), 0)
