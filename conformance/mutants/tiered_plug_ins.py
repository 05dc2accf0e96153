"""Plug-ins of tiered storage with one mistake each, which their interfaces show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from reference_impl.decisions import Mutant, original
from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.life_cycles import KnownSegment, Outcome
from reference_impl.tiered.segment_cache import Candidate, EpochRange
from reference_impl.tiered.segments import PartitionDeleteState, SegmentState
from reference_impl.tiered.storage import RemoteResourceNotFoundException
from reference_impl.tiered.topic_settings import OF_ALL_CLIENTS

STAGE = "plug-ins"
SHOWN: Mapping[str, str] = MappingProxyType({})
OTHERWISE = ""
_S = SegmentState


def sound(decision: str) -> Callable[..., Any]:
    """The decision as it should be."""
    return original(decision)


def _finished_at_once(before: SegmentState | None, after: SegmentState) -> Any:
    if before is None and after is _S.COPY_SEGMENT_FINISHED:
        return Outcome.APPLIED
    return sound("tiered-segment-transition")(before, after)


def _back_from_deletion(before: SegmentState | None, after: SegmentState) -> Any:
    if before is _S.DELETE_SEGMENT_STARTED and after is _S.COPY_SEGMENT_FINISHED:
        return Outcome.APPLIED
    return sound("tiered-segment-transition")(before, after)


def _repeats_are_errors(before: SegmentState | None, after: SegmentState) -> Any:
    found = sound("tiered-segment-transition")(before, after)
    return Outcome.ILLEGAL if found is Outcome.NO_OP else found


def _unknown_is_illegal(before: SegmentState | None, after: SegmentState) -> Any:
    found = sound("tiered-segment-transition")(before, after)
    return Outcome.ILLEGAL if found is Outcome.UNKNOWN_SEGMENT else found


def _taken_note_of(before: SegmentState | None, after: SegmentState) -> Any:
    found = sound("tiered-segment-transition")(before, after)
    late = found is Outcome.APPLIED and after is _S.COPY_SEGMENT_FINISHED
    return Outcome.NO_OP if late else found


def _marked_again(before: PartitionDeleteState | None, after: PartitionDeleteState) -> Any:
    if after is PartitionDeleteState.DELETE_PARTITION_MARKED:
        return Outcome.APPLIED
    return sound("tiered-partition-delete-transition")(before, after)


def _copies_are_finished(deletion: PartitionDeleteState | None, after: SegmentState) -> Any:
    return deletion is not None and after is _S.COPY_SEGMENT_STARTED


def _fences_all(
    highest_epoch: int, epoch: int, after: SegmentState, known: KnownSegment | None
) -> bool:
    return epoch < highest_epoch


def _from_the_entry_on(
    start_offset: int, end_offset: int, epochs: tuple[EpochEntry, ...]
) -> tuple[EpochRange, ...]:
    ranges = sound("tiered-epoch-ranges")(start_offset, end_offset, epochs)
    return tuple(EpochRange(one.epoch, one.first, one.last) for one in ranges[-1:])


def _first_copy(candidates: tuple[Candidate, ...]) -> Candidate | None:
    return min(candidates, default=None)


def _most_recent_first(sizes: tuple[int, ...], limit: int) -> int:
    return len(sizes) - 1 if sum(sizes) > limit else 0


def _family_wins(given: Mapping[str, str], family: str, prefix: str) -> dict[str, str]:
    found = sound("plug-in-settings")(given, family, prefix)
    return {**found, **{name: value for name, value in given.items() if name.startswith(family)}}


def _common_wins(configs: Mapping[str, str], prefix: str) -> dict[str, str]:
    own = sound("metadata-client-settings")(configs, prefix)
    return {**own, **sound("metadata-client-settings")(configs, OF_ALL_CLIENTS)}


def _waiting_counts(idle: bool, waiting: int, max_pending: int) -> bool:
    return idle or waiting <= max_pending


def _any_index(first: int, last: int, segment_start: int, segment_end: int) -> bool:
    return True


def _in_the_order_given(offsets: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple((number, offset - 1) for number, offset in sorted(offsets.items()))


def _without_jitter(attempt: int, initial_ms: int, most_ms: int, jitter: float) -> float:
    return float(min(most_ms, initial_ms * 2**attempt))


def _none_left(given: Sequence[str]) -> tuple[str, ...]:
    return ()


MUTANTS = (
    Mutant(
        name="copies-leave-old-indexes",
        decision="parts-left-before",
        replace=_none_left,
        rules=("TS-110",),
        why="a copy that is tried again has the parts of the one before it",
    ),
    Mutant(
        name="ends-are-exclusive",
        decision="range-to-fetch",
        replace=lambda start, end: (start, 2**31 - 1 - start if end is None else end - start),
        rules=("TS-111",),
        why="a range is taken as slices are",
    ),
    Mutant(
        name="whatever-fails-is-missing",
        decision="store-lacks-it",
        replace=lambda error: True,
        rules=("TS-111", "TS-112"),
        why="every error of the store is answered as one",
    ),
    Mutant(
        name="transaction-indexes-stay",
        decision="parts-of-a-copy",
        replace=lambda: tuple(
            one for one in sound("parts-of-a-copy")() if one != "transaction.index"
        ),
        rules=("TS-113",),
        why="the optional index was added later, and not to the deletion",
    ),
    Mutant(
        name="finished-without-a-start",
        decision="tiered-segment-transition",
        replace=_finished_at_once,
        rules=("TS-120", "TS-121"),
        why="an update is taken for what it says",
    ),
    Mutant(
        name="finished-while-deleted",
        decision="tiered-segment-transition",
        replace=_back_from_deletion,
        rules=("TS-120",),
        why="a late finish brings back a segment whose deletion began",
    ),
    Mutant(
        name="repeats-are-errors",
        decision="tiered-segment-transition",
        replace=_repeats_are_errors,
        rules=("TS-120",),
        why="only what changes something succeeds",
    ),
    Mutant(
        name="unknown-is-illegal",
        decision="tiered-segment-transition",
        replace=_unknown_is_illegal,
        rules=("TS-121",),
        why="a segment that is not known is in no state",
    ),
    Mutant(
        name="published-is-enough",
        decision="tiered-segment-transition",
        replace=_taken_note_of,
        rules=("TS-122",),
        why="a call returns when the topic has the event, and before it counts",
    ),
    Mutant(
        name="answers-for-everything",
        decision="manager-follows",
        replace=lambda told, leads: True,
        rules=("TS-129",),
        why="of what is not known there is nothing",
    ),
    Mutant(
        name="following-is-knowing",
        decision="tiered-metadata-initialised",
        replace=lambda target, applied_up_to: True,
        rules=("TS-129",),
        why="a manager answers once it follows the topic, and before it has read it",
    ),
    Mutant(
        name="marked-once-more",
        decision="tiered-partition-delete-transition",
        replace=_marked_again,
        rules=("TS-123",),
        why="a repeated mark begins the deletion anew",
    ),
    Mutant(
        name="copies-outlive-the-mark",
        decision="tiered-marked-blocks-copies",
        replace=_copies_are_finished,
        rules=("TS-124",),
        why="what was begun before the topic was deleted is finished",
    ),
    Mutant(
        name="old-leaders-finish-nothing",
        decision="tiered-fenced",
        replace=_fences_all,
        rules=("TS-125",),
        why="an old epoch is refused whatever it asks",
    ),
    Mutant(
        name="old-leaders-are-heard",
        decision="tiered-fenced",
        replace=lambda highest_epoch, epoch, after, known: False,
        rules=("TS-125",),
        why="the topic has one order, so no event is late",
    ),
    Mutant(
        name="last-epoch-of-a-segment",
        decision="tiered-epoch-ranges",
        replace=_from_the_entry_on,
        rules=("TS-126", "TS-127", "TS-128"),
        why="a segment is looked up by the epoch it ends in",
    ),
    Mutant(
        name="first-copy-is-kept",
        decision="tiered-preferred-segment",
        replace=_first_copy,
        rules=("TS-126",),
        why="any segment that holds the offset will do",
    ),
    Mutant(
        name="offsets-unsigned",
        decision="zig-zag",
        replace=lambda offset: offset,
        rules=("TS-130", "TS-132"),
        why="a var long is written as an unsigned one",
    ),
    Mutant(
        name="committed-is-the-last-read",
        decision="committed-lines",
        replace=_in_the_order_given,
        rules=("TS-131",),
        why="the offset of the last record is committed, not the next one",
    ),
    Mutant(
        name="committed-is-enough",
        decision="tiered-metadata-start",
        replace=lambda committed, kept: committed or 0,
        rules=("TS-132",),
        why="a partition without a file is thought to have had no events",
    ),
    Mutant(
        name="said-is-true",
        decision="formatter-switch",
        replace=lambda said: said != "",
        rules=("TS-133",),
        why="a property that is given is on",
    ),
    Mutant(
        name="megabytes-are-bytes",
        decision="index-cache-size",
        replace=lambda in_bytes, in_mb, usual: in_bytes or in_mb or usual,
        rules=("TS-140",),
        why="the number is taken without its unit",
    ),
    Mutant(
        name="any-jitter",
        decision="jitter-allowed",
        replace=lambda jitter: True,
        rules=("TS-140",),
        why="a jitter is a number",
    ),
    Mutant(
        name="family-wins",
        decision="plug-in-settings",
        replace=_family_wins,
        rules=("TS-141",),
        why="settings under the prefix are defaults of the plug-in",
    ),
    Mutant(
        name="common-settings-win",
        decision="metadata-client-settings",
        replace=_common_wins,
        rules=("TS-141",),
        why="what is said of one client is its default",
    ),
    Mutant(
        name="any-number-of-disks",
        decision="one-log-dir",
        replace=lambda dirs: True,
        rules=("TS-142",),
        why="the limit is written in the documentation",
    ),
    Mutant(
        name="cache-is-emptied",
        decision="cached-to-evict",
        replace=_most_recent_first,
        rules=("TS-145",),
        why="a cache that is full is emptied but for what came last",
    ),
    Mutant(
        name="any-index-fits",
        decision="index-within-segment",
        replace=_any_index,
        rules=("TS-146",),
        why="an index that parses is believed",
    ),
    Mutant(
        name="one-more-waits",
        decision="admit-remote-read",
        replace=_waiting_counts,
        rules=("TS-147",),
        why="the queue is full when it is longer than its limit",
    ),
    Mutant(
        name="retries-march-in-step",
        decision="task-backoff-ms",
        replace=_without_jitter,
        rules=("TS-148",),
        why="jitter is configured and not applied",
    ),
    Mutant(
        name="indexes-cost-nothing",
        decision="remote-bytes-in",
        replace=lambda data, kind: 0 if kind is not None else len(data),
        rules=("TS-156",),
        why="bytes are counted where consumers read segments",
    ),
    Mutant(
        name="no-transactions-is-an-error",
        decision="remote-read-error",
        replace=lambda error, kind: True,
        rules=("TS-156",),
        why="whatever is raised is a failure",
    ),
    Mutant(
        name="missing-is-an-answer",
        decision="remote-read-error",
        replace=lambda error, kind: not isinstance(error, RemoteResourceNotFoundException),
        rules=("TS-156",),
        why="the store has answered, if only that there is no such object",
    ),
)
