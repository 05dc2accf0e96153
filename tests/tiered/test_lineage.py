"""Parts of segments, the highest remote offset, the epochs of a copy: tables."""

from __future__ import annotations

from uuid import UUID

import pytest

from reference_impl.log.decisions import EpochEntry
from reference_impl.tiered.lineage import (
    OffsetRange,
    epochs_of_copy,
    first_offset_held,
    highest_remote_offset,
    part_of_segment,
    parts_of_lineage,
    segment_leader_epochs,
)
from reference_impl.tiered.segments import (
    RemoteLogSegmentId,
    RemoteLogSegmentMetadata,
    SegmentState,
    TopicIdPartition,
)

PARTITION = TopicIdPartition(UUID(int=1), "orders", 0)


def epochs(text: str) -> tuple[EpochEntry, ...]:
    """``"0@0 2@5"``: epoch 0 from offset 0, epoch 2 from offset 5."""
    pairs = (one.partition("@") for one in text.split())
    return tuple(EpochEntry(int(epoch), int(start)) for epoch, _, start in pairs)


def segment(
    start: int,
    end: int,
    of: str,
    *,
    number: int = 0,
    state: SegmentState = SegmentState.COPY_SEGMENT_FINISHED,
    leader_epoch: int = 0,
    max_ms: int = 0,
    event_ms: int = 0,
    size: int = 10,
) -> RemoteLogSegmentMetadata:
    return RemoteLogSegmentMetadata(
        segment_id=RemoteLogSegmentId(PARTITION, UUID(int=number or start * 100 + end)),
        start_offset=start,
        end_offset=end,
        leader_epoch=leader_epoch,
        max_timestamp_ms=max_ms,
        event_timestamp_ms=event_ms,
        segment_leader_epochs=epochs(of),
        segment_size_bytes=size,
        state=state,
    )


@pytest.mark.parametrize(
    ("one", "lineage", "log_start", "part"),
    [
        (segment(0, 4, "0@0"), "0@0", 0, (0, 4)),
        (segment(0, 4, "0@0"), "0@0", 3, (3, 4)),
        (segment(0, 4, "0@0"), "0@0", 5, None),
        (segment(0, 1, "0@0"), "0@0 1@1", 0, (0, 0)),  # scenario 3: its tail is of another log
        (segment(1, 1, "1@1"), "0@0 1@1", 0, (1, 1)),
        (segment(1, 1, "0@0"), "0@0 1@1", 0, None),
        (segment(6, 8, "2@5 3@7"), "0@0 1@3 2@5 3@7", 0, (6, 8)),  # begins inside an epoch
        (segment(6, 8, "2@5 3@7"), "0@0 1@3 2@5 4@7", 0, (6, 6)),
        (segment(2, 4, "1@2"), "0@0 2@5", 0, None),  # scenario 5
        (segment(0, 6, "0@0 1@3 2@5"), "0@0 2@4", 0, (0, 2)),  # parted once, parted for good
        (segment(0, 4, "0@0"), "0@2", 2, (2, 4)),  # the cache was cut with the log start
        (segment(0, 4, "0@0"), "3@3", 0, None),
        (segment(0, 4, "0@0"), "", 0, None),
    ],
)
def test_the_part_of_a_segment_has_the_epochs_of_the_lineage(
    one: RemoteLogSegmentMetadata, lineage: str, log_start: int, part: tuple[int, int] | None
) -> None:
    expected = None if part is None else OffsetRange(*part)
    assert part_of_segment(one, epochs(lineage), log_start) == expected


def test_parts_come_in_the_order_of_their_offsets_and_from_finished_segments_only() -> None:
    started = segment(4, 5, "0@0", state=SegmentState.COPY_SEGMENT_STARTED)
    found = [segment(2, 5, "0@0"), segment(0, 1, "0@0"), started, segment(2, 3, "0@0")]

    parts = parts_of_lineage(found, epochs("0@0"), 0)

    assert [one.part for one in parts] == [(0, 1), (2, 3), (2, 5)]


@pytest.mark.parametrize(
    ("lineage", "highest", "found"),
    [
        ("0@0", {}, None),
        ("0@0", {0: 4}, 4),
        ("0@0 1@3", {0: 2}, 2),
        ("0@0 1@3", {0: 2, 1: 7}, 7),
        ("0@0 1@3", {0: 5}, 2),  # the earlier leader went on; here the epoch ends with 2
        ("0@0 2@3 4@6", {0: 2, 3: 9}, 2),  # epoch 3 is of another lineage
        ("0@5 1@8", {0: 3}, None),  # all of it lies below the log start
        ("0@5 1@8", {0: 9}, 7),
        ("", {0: 3}, None),
    ],
)
def test_the_highest_remote_offset_is_that_of_the_latest_epoch_with_one(
    lineage: str, highest: dict[int, int], found: int | None
) -> None:
    assert highest_remote_offset(epochs(lineage), highest.get) == found


@pytest.mark.parametrize(
    ("start", "end", "listed"),
    [
        (6, 8, "2@5 3@7"),
        (4, 6, "1@3 2@5"),
        (0, 2, "0@0"),
        (0, 3, "0@0 1@3"),
        (5, 6, "2@5"),
        (7, 20, "3@7"),
    ],
)
def test_a_copy_lists_the_epochs_of_its_records_with_their_own_starts(
    start: int, end: int, listed: str
) -> None:
    assert segment_leader_epochs(epochs("0@0 1@3 2@5 3@7"), start, end) == epochs(listed)


def test_the_leader_epoch_object_has_all_epochs_up_to_the_end_of_the_segment() -> None:
    lineage = epochs("0@0 1@3 2@5 3@7 4@9")

    assert epochs_of_copy(lineage, 8) == epochs("0@0 1@3 2@5 3@7")
    assert epochs_of_copy(lineage, 9) == lineage


@pytest.mark.parametrize(
    ("copied", "log_start", "local_start", "held"),
    [
        ([(0, 4), (5, 9)], 0, 10, 0),
        ([(5, 9)], 0, 10, 5),  # 0 to 4 were deleted by a leader whose log start was not told
        ([(5, 9)], 7, 10, 7),
        ([], 0, 10, 10),
        ([], 0, 0, 0),
        ([(5, 9)], 3, 3, 3),  # the disk has it
    ],
)
def test_a_log_begins_where_something_of_it_is_left(
    copied: list[tuple[int, int]], log_start: int, local_start: int, held: int
) -> None:
    segments = [segment(*bounds, "0@0") for bounds in copied]
    segments.append(segment(0, 4, "0@0", number=7, state=SegmentState.DELETE_SEGMENT_STARTED))

    assert first_offset_held(segments, epochs("0@0"), log_start, local_start) == held
