"""Tiered storage with one mistake each, which clients of tiered logs notice in peace.

A client that reads from the end of the log, and never asks what is where, notices none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from reference_impl.decisions import Mutant, original
from reference_impl.kafka.errors import ErrorCode
from reference_impl.partitions.routing import Refuse, Route
from reference_impl.partitions.views import Bounds, Region, RegionKind
from reference_impl.tiered.decisions import LocalSegment
from reference_impl.tiered.remover import Removal, TopicPresence
from reference_impl.tiered.segments import PartitionDeleteState

STAGE = "tiers"
SHOWN = MappingProxyType(  # by which situation of the stage
    {
        "copies-the-latest-alone": "producers",
        "copies-the-latest-first": "producers",
        "disk-is-freed-early": "producers",
        "disk-is-never-freed": "producers",
        "local-retention-is-retention": "producers",
        "what-was-deleted-stays-remote": "deletions",
        "log-start-stays-behind": "retention",
        "expires-early": "retention",
        "never-expires": "retention",
        "one-segment-too-many": "retention",
        "size-does-not-matter": "retention",
        "metadata-anywhere": "producers",
        "local-start-is-the-start": "producers",
        "last-tiered-is-one-behind": "producers",
        "removal-forgets-segments": "removal",
    }
)
OTHERWISE = "reads"
_HOURS_2 = 7_200_000


def sound(decision: str) -> Callable[..., Any]:
    """The decision as it should be."""
    return original(decision)


def _latest_alone(
    finished: Sequence[LocalSegment], copy_from_offset: int, last_stable_offset: int
) -> Any:
    found = sound("copy-candidates")(finished, copy_from_offset, last_stable_offset)
    return tuple(found[-1:])


def _latest_first(
    finished: Sequence[LocalSegment], copy_from_offset: int, last_stable_offset: int
) -> Any:
    found = sound("copy-candidates")(finished, copy_from_offset, last_stable_offset)
    return tuple(reversed(found))


def _without_copies(
    finished: Sequence[LocalSegment],
    local_bytes: int,
    highest_remote: int,
    now_ms: int,
    retention_ms: int,
    retention_bytes: int,
) -> Any:
    whole = sound("local-retention-upto")
    return whole(finished, local_bytes, 1 << 60, now_ms, retention_ms, retention_bytes)


def _answers_start(timestamp: int, bounds: Bounds, last_tiered: int | None, upto: int) -> Any:
    asked = -2 if timestamp == -4 else timestamp
    return sound("special-offset")(asked, bounds, last_tiered, upto)


def _one_behind(timestamp: int, bounds: Bounds, last_tiered: int | None, upto: int) -> Any:
    answer = sound("special-offset")(timestamp, bounds, last_tiered, upto)
    return answer - 1 if timestamp == -5 and answer >= 0 else answer


def _local_only(timestamp: int, bounds: Bounds, regions: Sequence[Region]) -> Any:
    local = [one for one in regions if one.kind is not RegionKind.TIERED]
    return sound("route-search")(timestamp, bounds, local)


def _any_version(kind: RegionKind, version: int) -> Any:
    return sound("follower-elsewhere")(kind, 1 << 10)


def _out_of_range(kind: RegionKind, version: int) -> Route:
    return Refuse(ErrorCode.offset_out_of_range, told=True)


def _no_region(
    log_start_offset: int, local_log_start_offset: int, highest_remote: int | None
) -> None:
    return None


def _finishes_at_once(
    presence: TopicPresence, state: PartitionDeleteState | None, segments: int
) -> Any:
    found = sound("next-removal")(presence, state, segments)
    return Removal.FINISH if found is Removal.DELETE_SEGMENT else found


MUTANTS = (
    Mutant(
        name="copies-the-latest-alone",
        decision="copy-candidates",
        replace=_latest_alone,
        rules=("TS-097",),
        why="a leader that has fallen behind catches up with what is newest",
    ),
    Mutant(
        name="copies-the-latest-first",
        decision="copy-candidates",
        replace=_latest_first,
        rules=("TS-097",),
        why="the segments of a log are listed from its end",
    ),
    Mutant(
        name="disk-is-freed-early",
        decision="local-retention-upto",
        replace=_without_copies,
        rules=("TS-023", "TS-056"),
        why="local retention is applied as retention always was",
    ),
    Mutant(
        name="disk-is-never-freed",
        decision="local-retention-upto",
        replace=lambda *_: None,
        rules=("TS-055",),
        why="local retention is left to the retention of the whole log",
    ),
    Mutant(
        name="local-retention-is-retention",
        decision="effective-local-retention",
        replace=lambda topic, broker, log_retention, whole: whole,
        rules=("TS-055",),
        why="local.retention is looked up under the name of retention",
    ),
    Mutant(
        name="what-was-deleted-stays-remote",
        decision="breaches-log-start",
        replace=lambda segment, log_start_offset: False,
        rules=("TS-096",),
        why="DeleteRecords moves the log start, and expiry looks at ages and sizes alone",
    ),
    Mutant(
        name="log-start-stays-behind",
        decision="new-log-start",
        replace=lambda current, chosen: current,
        rules=("TS-095",),
        why="the log start follows when the segments are gone",
    ),
    Mutant(
        name="expires-early",
        decision="remote-segment-expired",
        replace=lambda latest, now_ms, retention_ms: sound("remote-segment-expired")(
            latest, now_ms + _HOURS_2, retention_ms
        ),
        rules=("TS-053",),
        why="retention is counted in another time zone",
    ),
    Mutant(
        name="never-expires",
        decision="remote-segment-expired",
        replace=lambda latest, now_ms, retention_ms: False,
        rules=("TS-054",),
        why="what is in the remote tier is kept for ever",
    ),
    Mutant(
        name="one-segment-too-many",
        decision="too-much",
        replace=lambda counted, local_only, limit: sound("too-much")(
            counted, local_only + (limit if limit > 0 else 0), limit
        ),
        rules=("TS-053",),
        why="what is on the disk is counted twice",
    ),
    Mutant(
        name="size-does-not-matter",
        decision="too-much",
        replace=lambda counted, local_only, limit: (),
        rules=("TS-054",),
        why="retention.bytes is about disks",
    ),
    Mutant(
        name="metadata-anywhere",
        decision="tiered-metadata-partition",
        replace=lambda topic, partition, partitions: partition % partitions,
        rules=("TS-083",),
        why="partitions are mapped by their numbers",
    ),
    Mutant(
        name="local-start-is-the-start",
        decision="special-offset",
        replace=_answers_start,
        rules=("TS-055",),
        why="-4 is answered as -2 was",
    ),
    Mutant(
        name="last-tiered-is-one-behind",
        decision="special-offset",
        replace=_one_behind,
        rules=("TS-023",),
        why="an end that is exclusive is taken for one that is inclusive",
    ),
    Mutant(
        name="searches-the-disk-alone",
        decision="route-search",
        replace=_local_only,
        rules=("TS-026",),
        why="timestamps are looked up in the time indexes of this disk",
    ),
    Mutant(
        name="every-follower-knows-109",
        decision="follower-elsewhere",
        replace=_any_version,
        rules=("TS-041",),
        why="the version of a fetch is not looked at",
    ),
    Mutant(
        name="moved-is-out-of-range",
        decision="follower-elsewhere",
        replace=_out_of_range,
        rules=("TS-040", "TS-041"),
        why="what is not on the disk is out of range, as it always was",
    ),
    Mutant(
        name="nothing-below-the-disk",
        decision="tiered-region",
        replace=_no_region,
        rules=("TS-037",),
        why="the remote tier is looked for only where something was copied since the start",
    ),
    Mutant(
        name="small-fetches-starve",
        decision="remote-batch-fits",
        replace=lambda taken, size, most, at_least_one: taken + size <= most,
        rules=("TS-006",),
        why="the limit of a fetch is kept to the byte",
    ),
    Mutant(
        name="limits-are-for-disks",
        decision="remote-batch-fits",
        replace=lambda taken, size, most, at_least_one: True,
        rules=("TS-007",),
        why="what was read from the store is sent",
    ),
    Mutant(
        name="removal-forgets-segments",
        decision="next-removal",
        replace=_finishes_at_once,
        rules=("TS-100",),
        why="the deletion of a partition is finished when its topic is gone",
    ),
)
