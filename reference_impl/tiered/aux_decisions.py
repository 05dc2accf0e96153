"""The choices of a follower whose leader no longer has on its disk what the follower lacks.

ELO is the first offset on the leader's disk. The follower goes on there; of what comes before it
needs the leader epochs and the producers. Both are kept with the remote segment that holds ELO − 1
in the leader's lineage (C-18). What that segment says at or above ELO may be of another lineage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.log.decisions import EpochEntry, epochs_from, epochs_up_to
from reference_impl.replication.decisions import EpochEnd
from reference_impl.tiered.segment_cache import ranges_of
from reference_impl.tiered.segments import RemoteLogSegmentMetadata


class ProducerSource(NamedTuple):
    """Where producers come from: a segment's snapshot, then the batches from an offset on.

    Without a segment no producer is known there.
    """

    snapshot_of: RemoteLogSegmentMetadata | None
    replay_from: int


@decision("epoch-before-elo", rules=("TS-044",))
def epoch_before_elo(elo: int, elo_epoch: int, earlier: EpochEnd) -> int:
    """The leader epoch of ELO − 1; ``earlier`` is the leader's answer about the epoch before
    ELO's."""
    return earlier.epoch if earlier.end_offset > elo - 1 else elo_epoch


@decision("segment-before-elo", rules=("TS-044",))
def segment_before_elo(
    segments: Sequence[RemoteLogSegmentMetadata], epoch: int, elo: int
) -> RemoteLogSegmentMetadata | None:
    """The finished segment that holds ELO − 1 in that epoch; of several, the one that ends first.

    So one that ends with ELO − 1, if there is one: its snapshot needs no replay.
    """
    holding = [
        one
        for one in segments
        if one.finished
        and any(
            part.epoch == epoch and part.first < elo <= part.last + 1 for part in ranges_of(one)
        )
    ]
    return min(holding, key=lambda one: (one.end_offset, one.segment_id.id), default=None)


@decision("segment-before-own-elo", rules=("TS-044",))
def segment_before_own_elo(
    segments: Sequence[RemoteLogSegmentMetadata], elo: int, elo_epoch: int
) -> RemoteLogSegmentMetadata | None:
    """The same for a log that does not know what came before its own ELO, whom no leader tells.

    A segment with ELO − 1 in the epoch of ELO is of its lineage. Where there is none, that epoch
    began at ELO, behind the latest that was copied before it.
    """
    held = [
        part.epoch
        for one in segments
        if one.finished
        for part in ranges_of(one)
        if part.epoch <= elo_epoch and part.first < elo <= part.last + 1
    ]
    return segment_before_elo(segments, max(held), elo) if held else None


@decision("epochs-before-elo", rules=("TS-044",))
def epochs_before_elo(
    entries: Sequence[EpochEntry], log_start_offset: int, elo: int, elo_epoch: int
) -> tuple[EpochEntry, ...]:
    """A segment's epochs, cut to [log start, ELO), and the epoch of ELO itself."""
    kept = epochs_from(epochs_up_to(entries, elo), log_start_offset)
    if kept and kept[-1].epoch == elo_epoch:
        return kept
    return (*kept, EpochEntry(elo_epoch, elo))


@decision("producers-before-elo", rules=("TS-046",))
def producers_before_elo(
    chosen: RemoteLogSegmentMetadata,
    segments: Sequence[RemoteLogSegmentMetadata],
    epochs: Sequence[EpochEntry],
    log_start_offset: int,
    elo: int,
) -> ProducerSource:
    """The snapshot that ends highest below ELO, and from where batches are applied to it.

    A segment whose last record is not of the lineage has a snapshot of other producers; one that
    ends before the log start leaves a gap that may be deleted.
    """
    if chosen.end_offset == elo - 1:
        return ProducerSource(chosen, elo)
    usable = [
        one
        for one in segments
        if one.finished
        and log_start_offset <= one.end_offset + 1 <= elo
        and epoch_at(epochs, one.end_offset) == one.segment_leader_epochs[-1].epoch
    ]
    best = max(usable, key=lambda one: (one.end_offset, one.segment_id.id), default=None)
    return ProducerSource(best, log_start_offset if best is None else best.end_offset + 1)


@decision("epoch-at", rules=("TS-034",))
def epoch_at(epochs: Sequence[EpochEntry], offset: int) -> int | None:
    """The leader epoch of an offset, by a lineage."""
    return next((one.epoch for one in reversed(epochs) if one.start_offset <= offset), None)
