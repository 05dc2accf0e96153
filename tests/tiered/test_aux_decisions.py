"""Which segment, which epochs and which producers a follower begins with: the document's tables."""

from __future__ import annotations

from uuid import UUID

import pytest

from reference_impl.log.decisions import EpochEntry
from reference_impl.replication.decisions import EpochEnd
from reference_impl.tiered.aux_decisions import (
    epoch_at,
    epoch_before_elo,
    epochs_before_elo,
    producers_before_elo,
    segment_before_elo,
    segment_before_own_elo,
)
from reference_impl.tiered.segments import (
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    SegmentState,
    TopicIdPartition,
)

PARTITION = TopicIdPartition(UUID(int=1), "t", 0)
Epochs = tuple[tuple[int, int], ...]


def segment(
    start: int, end: int, *epochs: tuple[int, int], id_: int = 0, finished: bool = True
) -> RemoteLogSegmentMetadata:
    return RemoteLogSegmentMetadata(
        segment_id=RemoteLogSegmentId(PARTITION, UUID(int=id_ or 1000 * start + end)),
        start_offset=start,
        end_offset=end,
        leader_epoch=epochs[-1][0],
        max_timestamp_ms=0,
        event_timestamp_ms=0,
        segment_leader_epochs=entries(epochs),
        segment_size_bytes=1,
        state=SegmentState.COPY_SEGMENT_FINISHED if finished else SegmentState.COPY_SEGMENT_STARTED,
    )


def entries(epochs: Epochs) -> tuple[EpochEntry, ...]:
    return tuple(EpochEntry(*one) for one in epochs)


FIRST = [segment(0, 2, (0, 0)), segment(3, 5, (1, 3), (2, 5))]
SECOND = [*FIRST, segment(6, 8, (2, 5), (3, 7))]
FIFTH = [
    segment(0, 3, (0, 0), id_=1),
    segment(0, 3, (0, 0), (1, 2), id_=2),
    segment(4, 5, (0, 0), (2, 5), id_=3),
]


@pytest.mark.parametrize(
    ("scenario", "elo", "elo_epoch", "earlier", "segments", "found", "object_", "epochs"),
    [
        (1, 3, 1, (0, 3), FIRST, (0, 2), ((0, 0),), ((0, 0), (1, 3))),
        (
            2,
            9,
            3,
            (2, 7),
            SECOND,
            (6, 8),
            ((0, 0), (1, 3), (2, 5), (3, 7)),
            ((0, 0), (1, 3), (2, 5), (3, 7)),
        ),
        (5, 6, 2, (0, 5), FIFTH, (4, 5), ((0, 0), (2, 5)), ((0, 0), (2, 5))),
    ],
)
def test_the_tables_of_the_document(
    scenario: int,
    elo: int,
    elo_epoch: int,
    earlier: tuple[int, int],
    segments: list[RemoteLogSegmentMetadata],
    found: tuple[int, int],
    object_: Epochs,
    epochs: Epochs,
) -> None:
    epoch = epoch_before_elo(elo, elo_epoch, EpochEnd(epoch=earlier[0], end_offset=earlier[1]))
    chosen = segment_before_elo(segments, epoch, elo)

    assert chosen is not None
    assert (chosen.start_offset, chosen.end_offset) == found
    assert epochs_before_elo(entries(object_), 0, elo, elo_epoch) == entries(epochs)
    source = producers_before_elo(chosen, segments, entries(epochs), 0, elo)
    assert source == (chosen, elo)  # its own snapshot, and nothing to replay


@pytest.mark.parametrize(
    ("elo", "elo_epoch", "earlier", "epoch"),
    [
        (6, 2, (1, 6), 1),  # ELO is the first offset of its epoch
        (6, 2, (1, 5), 2),  # its epoch began before
        (6, 0, (-1, -1), 0),  # there was none before
        (6, 5, (2, 6), 2),  # epochs in between have no records
    ],
)
def test_the_epoch_of_the_offset_before_elo(
    elo: int, elo_epoch: int, earlier: tuple[int, int], epoch: int
) -> None:
    answered = EpochEnd(epoch=earlier[0], end_offset=earlier[1])
    assert epoch_before_elo(elo, elo_epoch, answered) == epoch


@pytest.mark.parametrize(
    ("segments", "epoch", "found"),
    [
        ([], 0, None),
        ([segment(0, 9, (0, 0))], 0, (0, 9)),
        ([segment(0, 9, (0, 0)), segment(3, 5, (0, 0))], 0, (3, 5)),
        ([segment(0, 9, (0, 0)), segment(3, 7, (0, 0))], 0, (3, 7)),
        ([segment(0, 4, (0, 0))], 0, None),  # ends before ELO − 1
        ([segment(6, 9, (0, 0))], 0, None),  # begins at ELO
        ([segment(0, 9, (0, 0), finished=False)], 0, None),
        ([segment(0, 9, (0, 0), (1, 5))], 0, None),  # another lineage at ELO − 1
        ([segment(0, 9, (0, 0), (1, 6))], 0, (0, 9)),  # another lineage from ELO on
    ],
)
def test_the_segment_that_holds_the_offset_before_elo(
    segments: list[RemoteLogSegmentMetadata], epoch: int, found: tuple[int, int] | None
) -> None:
    chosen = segment_before_elo(segments, epoch, 6)
    assert (chosen and (chosen.start_offset, chosen.end_offset)) == found


@pytest.mark.parametrize(
    ("segments", "found"),
    [
        ([], None),
        ([segment(0, 9, (2, 0))], (0, 9)),  # in the epoch of ELO
        ([segment(0, 9, (1, 0)), segment(2, 7, (2, 0))], (2, 7)),
        ([segment(0, 5, (0, 0)), segment(2, 5, (1, 0))], (2, 5)),  # the latest before it
        ([segment(0, 9, (3, 0))], None),  # of a later epoch: another lineage
        ([segment(0, 4, (2, 0)), segment(6, 9, (2, 0))], None),
        ([segment(0, 9, (2, 0), finished=False)], None),
    ],
)
def test_a_log_that_does_not_know_what_came_before_it_finds_the_segment_by_its_own_epoch(
    segments: list[RemoteLogSegmentMetadata], found: tuple[int, int] | None
) -> None:
    chosen = segment_before_own_elo(segments, 6, 2)
    assert (chosen and (chosen.start_offset, chosen.end_offset)) == found


@pytest.mark.parametrize(
    ("object_", "log_start", "elo", "elo_epoch", "epochs"),
    [
        (((0, 0), (1, 3), (2, 5)), 0, 5, 2, ((0, 0), (1, 3), (2, 5))),
        (((0, 0), (1, 3), (9, 5)), 0, 5, 2, ((0, 0), (1, 3), (2, 5))),  # (9,5) is another lineage's
        (((0, 0), (1, 3), (2, 5)), 3, 9, 2, ((1, 3), (2, 5))),  # epoch 0 ends at the log start
        (((0, 0), (1, 3), (2, 5)), 4, 9, 2, ((1, 4), (2, 5))),  # the first is raised to it
        (((0, 0),), 0, 9, 4, ((0, 0), (4, 9))),
    ],
)
def test_epochs_are_cut_to_the_log_start_and_elo(
    object_: Epochs, log_start: int, elo: int, elo_epoch: int, epochs: Epochs
) -> None:
    assert epochs_before_elo(entries(object_), log_start, elo, elo_epoch) == entries(epochs)


REACHES_FURTHER = segment(4, 9, (1, 4))
LINEAGE = ((0, 0), (1, 4))


@pytest.mark.parametrize(
    ("others", "log_start", "snapshot", "replay_from"),
    [
        ([], 0, None, 0),
        ([], 3, None, 3),
        ([segment(0, 1, (0, 0)), segment(2, 3, (0, 0))], 0, (2, 3), 4),
        ([segment(0, 1, (0, 0)), segment(2, 3, (0, 0), finished=False)], 0, (0, 1), 2),
        ([segment(0, 1, (0, 0)), segment(2, 3, (0, 0), (9, 3))], 0, (0, 1), 2),  # parted at 3
        ([segment(0, 1, (0, 0))], 2, (0, 1), 2),  # ends where the log begins
        ([segment(0, 1, (0, 0))], 3, None, 3),  # a gap before the log start
    ],
)
def test_producers_come_from_the_highest_snapshot_of_the_lineage_below_elo(
    others: list[RemoteLogSegmentMetadata],
    log_start: int,
    snapshot: tuple[int, int] | None,
    replay_from: int,
) -> None:
    known = [*others, REACHES_FURTHER]
    found = producers_before_elo(REACHES_FURTHER, known, entries(LINEAGE), log_start, 7)

    of = found.snapshot_of
    assert (of and (of.start_offset, of.end_offset)) == snapshot
    assert found.replay_from == replay_from


def test_the_epoch_of_an_offset_is_the_last_that_began() -> None:
    lineage = entries(((0, 2), (3, 5)))
    assert [epoch_at(lineage, offset) for offset in (1, 2, 4, 5, 9)] == [None, 0, 0, 3, 3]
