"""Tiered storage with one mistake each about where a log begins and ends, and what stands there.

Most of them are mistakes that any log can have; here they show in one of which most is remote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from reference_impl.decisions import Mutant, original
from reference_impl.kafka.batches import Batch
from reference_impl.log.searches import TimestampOffset
from reference_impl.partitions.searching import MAX_TIMESTAMP, Search
from reference_impl.partitions.views import Bounds, Region, RegionKind
from reference_impl.tiered.decisions import LocalSegment

STAGE = "tiers"
SHOWN = MappingProxyType(  # by which situation of the stage
    {
        "deletions-are-undone": "deletions",
        "deleted-where-it-leads": "deletions",
        "copied-again-and-again": "enabling",
        "local-retention-is-told-as-whole": "configurations",
        "no-limit-of-bytes-is-none-kept": "retention",
        "no-limit-of-time-is-none-kept": "retention",
        "each-leaves-by-itself": "retention",
    }
)
OTHERWISE = "reads"


def sound(decision: str) -> Callable[..., Any]:
    """The decision as it should be."""
    return original(decision)


def _without_the_last(timestamp: int, bounds: Bounds, last_tiered: int | None, upto: int) -> int:
    found: int = sound("special-offset")(timestamp, bounds, last_tiered, upto)
    tiered = bounds.local_log_start_offset > bounds.log_start_offset
    return found - 1 if timestamp == -1 and tiered else found


def _all_that_is_finished(
    finished: Sequence[LocalSegment], copy_from_offset: int, last_stable_offset: int
) -> tuple[LocalSegment, ...]:
    return tuple(one for one in finished if one.end_offset < last_stable_offset)


def _each_by_itself(
    finished: Sequence[LocalSegment], local: int, remote: int, now: int, ms: int, most: int
) -> int | None:
    upto = sound("local-retention-upto")
    ends = [upto([one], local, remote, now, ms, most) for one in finished]
    return max((one for one in ends if one is not None), default=None)


def _only_by_time(timestamp: int, bounds: Bounds, regions: Sequence[Region]) -> tuple[Search, ...]:
    found: tuple[Search, ...] = sound("route-search")(timestamp, bounds, regions)
    if timestamp != MAX_TIMESTAMP:
        return found
    return tuple(one for one in found if one.region.kind is not RegionKind.TIERED)


def _as_the_batch(timestamp: int, offset: int, batch: Batch) -> TimestampOffset:
    return TimestampOffset(
        timestamp=batch.max_timestamp, offset=offset, leader_epoch=batch.partition_leader_epoch
    )


MUTANTS = (
    Mutant(
        name="offsets-are-the-producers",
        decision="admit-offsets",
        replace=lambda kept_compressed, out_of_place: True,
        rules=("TS-008", "TS-010"),
        why="a batch that is compressed is copied as it came",
    ),
    Mutant(
        name="deletions-are-undone",
        decision="next-log-start",
        replace=lambda current, asked: asked,
        rules=("TS-020", "TS-052"),
        why="a deletion below the log start brings back what is still in the store",
    ),
    Mutant(
        name="deleted-where-it-leads",
        decision="low-watermark",
        replace=lambda log_start_offset, followers: log_start_offset,
        rules=("TS-051",),
        why="a deletion is answered when the leader has made it, whoever still serves the tier",
    ),
    Mutant(
        name="latest-is-the-last-record",
        decision="special-offset",
        replace=_without_the_last,
        rules=("TS-021",),
        why="the latest offset is taken for inclusive, as the latest tiered one is",
    ),
    Mutant(
        name="maximum-of-the-disk",
        decision="route-search",
        replace=_only_by_time,
        rules=("TS-029",),
        why="the maximum timestamp is looked for in local segments alone (KAFKA-17552)",
    ),
    Mutant(
        name="found-by-the-batch",
        decision="told-of-record",
        replace=_as_the_batch,
        rules=("TS-030",),
        why="the entry of the index that led to the batch is answered",
    ),
    Mutant(
        name="local-retention-is-told-as-whole",
        decision="default-of-topic",
        replace=lambda name: sound("default-of-topic")(name.removeprefix("local.")),
        rules=("TS-074",),
        why="what is not set is described by what it comes to",
    ),
    Mutant(
        name="copied-again-and-again",
        decision="copy-candidates",
        replace=_all_that_is_finished,
        rules=("TS-091",),
        why="what is on the disk is to be copied, as long as it is there",
    ),
    Mutant(
        name="no-limit-of-bytes-is-none-kept",
        decision="local-retention-upto",
        replace=lambda finished, local, remote, now, ms, most: sound("local-retention-upto")(
            finished, local, remote, now, ms, max(0, most)
        ),
        rules=("TS-058",),
        why="-1 is compared like any other number of bytes",
    ),
    Mutant(
        name="no-limit-of-time-is-none-kept",
        decision="local-retention-upto",
        replace=lambda finished, local, remote, now, ms, most: sound("local-retention-upto")(
            finished, local, remote, now, max(0, ms), most
        ),
        rules=("TS-058",),
        why="-1 is compared like any other number of milliseconds",
    ),
    Mutant(
        name="each-leaves-by-itself",
        decision="local-retention-upto",
        replace=_each_by_itself,
        rules=("TS-058",),
        why="an old segment behind a young one takes that with it",
    ),
)
