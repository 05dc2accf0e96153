"""Tiered storage that mistakes what belongs to a log, which the document's own tables show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from reference_impl.decisions import Mutant, original
from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.decisions import LocalSegment
from reference_impl.tiered.lineage import SegmentPart
from reference_impl.tiered.segments import RemoteLogSegmentMetadata

STAGE = "plug-ins"
SHOWN: Mapping[str, str] = MappingProxyType({})
OTHERWISE = ""


def sound(decision: str) -> Callable[..., Any]:
    """The decision as it should be."""
    return original(decision)


def _all_of_the_checkpoint(
    entries: Sequence[EpochEntry], log_start_offset: int, elo: int, elo_epoch: int
) -> Any:
    return tuple(entries)


def _nearest_snapshot(
    chosen: RemoteLogSegmentMetadata,
    segments: Sequence[RemoteLogSegmentMetadata],
    epochs: Sequence[EpochEntry],
    log_start_offset: int,
    elo: int,
) -> Any:
    lineage = [*epochs, EpochEntry(1 << 30, 1 << 30)]
    below = [one for one in segments if one.end_offset < elo]
    best = max(below, key=lambda one: one.end_offset, default=chosen)
    found = sound("producers-before-elo")(chosen, segments, lineage, log_start_offset, elo)
    return found._replace(snapshot_of=best, replay_from=min(best.end_offset + 1, elo))


def _any_copy(
    segments: Sequence[RemoteLogSegmentMetadata], elo: int, elo_epoch: int
) -> RemoteLogSegmentMetadata | None:
    return max(segments, key=lambda one: one.end_offset, default=None)


def _every_copy_counts(parts: Sequence[Any]) -> Any:
    return tuple(parts)


def _never_left_over(
    segment: RemoteLogSegmentMetadata, leader_epoch: int, now_ms: int, task_interval_ms: int
) -> bool:
    return segment.leader_epoch < leader_epoch


def _highest_of_all(lineage: Sequence[EpochEntry], highest_for_epoch: Callable[[int], Any]) -> Any:
    known = [found for one in lineage if (found := highest_for_epoch(one.epoch)) is not None]
    return max(known, default=None)


def _undecided_too(
    finished: Sequence[LocalSegment], copy_from_offset: int, last_stable_offset: int
) -> Any:
    return tuple(one for one in finished if one.end_offset >= copy_from_offset)


def _behind_the_last_of_them(current: int, chosen: Sequence[SegmentPart]) -> int:
    return max(current, chosen[-1].part.end + 1) if chosen else current


def _none_that_overlaps(
    parts: Sequence[SegmentPart], now_ms: int, retention_ms: int
) -> tuple[SegmentPart, ...]:
    old: tuple[SegmentPart, ...] = sound("too-old")(parts, now_ms, retention_ms)
    ends = [-1, *(one.part.end for one in old)]
    return tuple(one for end, one in zip(ends, old, strict=False) if one.part.start > end)


MUTANTS = (
    Mutant(
        name="only-followers-hear-of-it",
        decision="readable-from",
        replace=lambda log_start_offset, local_log_start_offset, parts: log_start_offset,
        rules=("TS-153",),
        why="the leader says where the log starts, so a new one knows it",
    ),
    Mutant(
        name="begins-behind-the-last",
        decision="new-log-start",
        replace=_behind_the_last_of_them,
        rules=("TS-152",),
        why="of segments that overlap the last one is not the furthest (KAFKA-16890)",
    ),
    Mutant(
        name="overlaps-are-kept",
        decision="too-old",
        replace=_none_that_overlaps,
        rules=("TS-152",),
        why="a segment that begins inside of another waits for one that follows (KAFKA-16511)",
    ),
    Mutant(
        name="epochs-of-the-whole-segment",
        decision="epochs-before-elo",
        replace=_all_of_the_checkpoint,
        rules=("TS-150",),
        why="the checkpoint of a segment is taken as it is",
    ),
    Mutant(
        name="snapshots-of-any-lineage",
        decision="producers-before-elo",
        replace=_nearest_snapshot,
        rules=("TS-150",),
        why="a snapshot is found by its offset",
    ),
    Mutant(
        name="latest-copy-comes-before",
        decision="segment-before-own-elo",
        replace=_any_copy,
        rules=("TS-151",),
        why="what came before the disk is what was copied last",
    ),
    Mutant(
        name="copied-twice-counts-twice",
        decision="counted-for-size",
        replace=_every_copy_counts,
        rules=("TS-152",),
        why="the size of a log is that of its objects",
    ),
    Mutant(
        name="earlier-leaders-copies-go",
        decision="left-over",
        replace=_never_left_over,
        rules=("TS-153",),
        why="a leader that was replaced is thought to do nothing any more",
    ),
    Mutant(
        name="highest-of-any-leader",
        decision="highest-remote-offset",
        replace=_highest_of_all,
        rules=("TS-154",),
        why="copies go on behind what was copied last, under any leader",
    ),
    Mutant(
        name="undecided-is-copied",
        decision="copy-candidates",
        replace=_undecided_too,
        rules=("TS-154",),
        why="a segment that is finished is copied",
    ),
)
