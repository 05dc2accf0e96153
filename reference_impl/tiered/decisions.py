"""What is copied, expired and removed, and when a failed task is tried again: pure choices.

Of the tasks of a partition the flows in ``copying``, ``expiry`` and ``tasks`` only carry out what
is chosen here. Offsets are inclusive unless a name says ``end`` of a log or a high watermark.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.lineage import SegmentPart, parts_of_lineage
from reference_impl.tiered.segments import (
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    SegmentState,
)

NOT_SET = -2
UNLIMITED = -1
ABANDONED_AFTER_INTERVALS = 10


class LocalSegment(NamedTuple):
    """A finished segment on this disk."""

    base_offset: int
    end_offset: int
    size: int
    largest_timestamp: int


class TaskStep(StrEnum):
    """What a leader's task is about to do."""

    START_COPY = "start a copy"
    FINISH_COPY = "finish the copy in hand"
    DELETE = "delete a remote segment"
    REMOVE_OWN_COPY = "remove a copy of its own that is of no use"


class Standing(StrEnum):
    """What a broker is, by now, to a partition whose task it runs as leader of an epoch."""

    LEADS = "leads in that epoch"
    REPLICA = "has a replica and does not lead in that epoch"
    GONE = "has no replica"


# Copying.


@decision("copy-from", rules=("TS-056", "TS-097"))
def copy_from(highest_remote: int | None, log_start_offset: int, first_epoch_start: int) -> int:
    """Copies go on behind the highest remote offset; the first begins where the log does, or
    where its epochs are known from (G-39)."""
    known_from = max(log_start_offset, first_epoch_start)
    return known_from if highest_remote is None else max(highest_remote + 1, known_from)


@decision("copy-candidates", rules=("TS-091", "TS-097"))
def copy_candidates(
    finished: Sequence[LocalSegment], copy_from_offset: int, last_stable_offset: int
) -> tuple[LocalSegment, ...]:
    """Finished segments that are not covered by remote ones and all of whose records are decided,
    oldest first: one that is not ready keeps back all behind it."""
    found: list[LocalSegment] = []
    for one in finished:
        if one.end_offset < copy_from_offset:
            continue
        if one.end_offset >= last_stable_offset:
            break
        found.append(one)
    return tuple(found)


@decision("active-must-roll", rules=("TS-054",))
def active_must_roll(size: int, newest_ms: int, now_ms: int, retention_ms: int) -> bool:
    """An active segment whose newest record is past retention.ms is rolled, so that it can be
    copied and expired like any other (G-16)."""
    return size > 0 and retention_ms >= 0 and now_ms - newest_ms > retention_ms


@decision("task-may", rules=("TS-091",))
def task_may(step: TaskStep, standing: Standing) -> bool:
    """A leader that was replaced finishes the copy in hand and begins nothing (C-36); a broker
    without a replica only takes away what it has written itself."""
    if standing is Standing.LEADS or step is TaskStep.REMOVE_OWN_COPY:
        return True
    return standing is Standing.REPLICA and step is TaskStep.FINISH_COPY


# Expiry (C-16).


@decision("left-over", rules=("TS-093",))
def left_over(
    segment: RemoteLogSegmentMetadata, leader_epoch: int, now_ms: int, task_interval_ms: int
) -> bool:
    """A deletion that was begun, a copy of this leader that it does not make any more, and one of
    an earlier leader that has had time enough."""
    if segment.state is SegmentState.DELETE_SEGMENT_STARTED:
        return True
    if segment.state is not SegmentState.COPY_SEGMENT_STARTED:
        return False
    if segment.leader_epoch == leader_epoch:
        return True
    waited_ms = now_ms - segment.event_timestamp_ms
    return (
        segment.leader_epoch < leader_epoch
        and waited_ms > ABANDONED_AFTER_INTERVALS * task_interval_ms
    )


@decision("breaches-log-start", rules=("TS-096",))
def breaches_log_start(segment: RemoteLogSegmentMetadata, log_start_offset: int) -> bool:
    """A finished segment that ends before the log begins, whatever its lineage."""
    return segment.finished and segment.end_offset < log_start_offset


@decision("remote-segment-expired", rules=("TS-053", "TS-054"))
def remote_segment_expired(max_timestamp_ms: int, now_ms: int, retention_ms: int) -> bool:
    """A segment goes when its latest record is older than retention.ms; below 0, never."""
    return retention_ms >= 0 and now_ms - max_timestamp_ms > retention_ms


@decision("too-old", rules=("TS-053", "TS-054"))
def too_old(
    parts: Sequence[SegmentPart], now_ms: int, retention_ms: int
) -> tuple[SegmentPart, ...]:
    """Segments of the lineage from the oldest on, up to the first that stays."""
    found: list[SegmentPart] = []
    for one in parts:
        if not remote_segment_expired(one.segment.max_timestamp_ms, now_ms, retention_ms):
            break
        found.append(one)
    return tuple(found)


@decision("counted-for-size", rules=("TS-053",))
def counted_for_size(parts: Sequence[SegmentPart]) -> tuple[SegmentPart, ...]:
    """Offsets that were copied twice count once: a part that lies in another is left out."""
    found: list[SegmentPart] = []
    for one in parts:
        if any(other.part.holds(one.part) for other in found):
            continue
        found = [other for other in found if not one.part.holds(other.part)]
        found.append(one)
    return tuple(found)


@decision("too-much", rules=("TS-053", "TS-054"))
def too_much(
    counted: Sequence[SegmentPart], local_only_bytes: int, retention_bytes: int
) -> tuple[SegmentPart, ...]:
    """The oldest segments, as long as what is left without them is retention.bytes or more."""
    found: list[SegmentPart] = []
    left = local_only_bytes + sum(one.segment.segment_size_bytes for one in counted)
    for one in counted:
        left -= one.segment.segment_size_bytes
        if retention_bytes < 0 or left < retention_bytes:
            break
        found.append(one)
    return tuple(found)


@decision("new-log-start", rules=("TS-095",))
def new_log_start(current: int, chosen: Sequence[SegmentPart]) -> int:
    """Behind the highest offset of what expires; it only rises."""
    return max([current, *(one.part.end + 1 for one in chosen)])


@decision("readable-from", rules=("TS-153",))
def readable_from(
    log_start_offset: int, local_log_start_offset: int, parts: Sequence[SegmentPart]
) -> int:
    """The first offset from the log start on that is in a finished segment, or on this disk.

    What left a disk had been copied. So what is in neither expired under an earlier leader that
    fell before this replica heard of its log start."""
    found = min([local_log_start_offset, *(one.part.start for one in parts)])
    return max(log_start_offset, found)


class ExpiryView(NamedTuple):
    """What the leader of a partition knows when it decides what expires."""

    segments: tuple[RemoteLogSegmentMetadata, ...]
    copying: Collection[RemoteLogSegmentId]
    lineage: tuple[EpochEntry, ...]
    leader_epoch: int
    led_from: int  # where its disk began when it took over: before that, earlier leaders answer
    log_start_offset: int
    local_log_start_offset: int
    high_watermark: int
    local_only_bytes: int  # above the highest remote offset
    retention_ms: int
    retention_bytes: int
    now_ms: int
    task_interval_ms: int


class Expiry(NamedTuple):
    """Where the log is to begin, and which segments go then, in that order."""

    log_start_offset: int
    victims: tuple[RemoteLogSegmentMetadata, ...]


def plan_expiry(view: ExpiryView) -> Expiry:
    """Steps 1 to 6 of C-16, each by its own choice."""
    begin = view.log_start_offset
    if view.lineage and view.lineage[0].start_offset <= begin:
        known = parts_of_lineage(view.segments, view.lineage, begin)
        found = readable_from(begin, view.local_log_start_offset, known)
        begin = max(begin, min(found, view.led_from))
    candidates = [one for one in view.segments if one.segment_id not in view.copying]
    parts = parts_of_lineage(candidates, view.lineage, view.log_start_offset)
    old = too_old(parts, view.now_ms, view.retention_ms)
    left = [one for one in parts if one not in old]
    much = too_much(counted_for_size(left), view.local_only_bytes, view.retention_bytes)
    # What is not known to be committed cannot go: the log begins at the high watermark at most.
    chosen = [one for one in (*old, *much) if one.part.end < view.high_watermark]
    start = new_log_start(begin, chosen)
    going = [one.segment.segment_id for one in chosen]
    with_part = [one.segment.segment_id for one in parts]

    def goes(one: RemoteLogSegmentMetadata) -> bool:
        foreign = one.finished and one.segment_id not in with_part
        return (
            one.segment_id in going
            or left_over(one, view.leader_epoch, view.now_ms, view.task_interval_ms)
            or breaches_log_start(one, start)
            or (
                foreign
                and remote_segment_expired(one.max_timestamp_ms, view.now_ms, view.retention_ms)
            )
        )

    return Expiry(start, tuple(one for one in candidates if goes(one)))


# Local retention.


@decision("effective-local-retention", rules=("TS-055",))
def effective_local_retention(topic: int, broker: int, log_retention: int, whole: int) -> int:
    """What a topic says, else its broker, else the retention of logs there; never more than is
    kept at all (C-09). −1 is without limit, −2 not set."""
    said = topic if topic != NOT_SET else broker if broker != NOT_SET else log_retention
    if said == UNLIMITED or whole == UNLIMITED:
        return max(said, whole)
    return min(said, whole)


@decision("local-retention-upto", rules=("TS-023", "TS-055"))
def local_retention_upto(
    finished: Sequence[LocalSegment],
    local_bytes: int,
    highest_remote: int,
    now_ms: int,
    retention_ms: int,
    retention_bytes: int,
) -> int | None:
    """Up to which offset, exclusive, segments leave this disk: the oldest ones that are too old or
    too much here, as far as there is a copy of them (C-16, step 9)."""
    upto: int | None = None
    left = local_bytes
    for one in finished:
        aged = retention_ms >= 0 and now_ms - one.largest_timestamp > retention_ms
        heavy = retention_bytes >= 0 and left - one.size >= retention_bytes
        if one.end_offset > highest_remote or not (aged or heavy):
            break
        left -= one.size
        upto = one.end_offset + 1
    return upto


# Retries.


@decision("task-backoff-ms", rules=("TS-057",))
def task_backoff_ms(attempt: int, initial_ms: int, most_ms: int, jitter: float) -> float:
    """How long a failed task waits before retry 0, 1, …; ``jitter`` is drawn anew for each."""
    return min(most_ms, initial_ms * 2.0 ** min(attempt, 62) * (1 + jitter))
