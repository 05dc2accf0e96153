"""What is copied, expired, removed and retried: tables."""

from __future__ import annotations

import pytest

from reference_impl.tiered.decisions import (
    Expiry,
    ExpiryView,
    LocalSegment,
    Standing,
    TaskStep,
    active_must_roll,
    copy_candidates,
    copy_from,
    effective_local_retention,
    left_over,
    local_retention_upto,
    plan_expiry,
    task_backoff_ms,
    task_may,
)
from reference_impl.tiered.segments import RemoteLogSegmentMetadata, SegmentState
from tests.tiered.test_lineage import epochs, segment

STARTED = SegmentState.COPY_SEGMENT_STARTED
DELETING = SegmentState.DELETE_SEGMENT_STARTED
NOW, INTERVAL = 1_000_000, 30_000
LOCAL = tuple(LocalSegment(base, base + 2, 10, base * 100) for base in (0, 3, 6, 9))


@pytest.mark.parametrize(
    ("highest", "log_start", "first_epoch", "start"),
    [(None, 0, 0, 0), (None, 4, 0, 4), (None, 0, 2, 2), (5, 0, 0, 6), (5, 9, 0, 9), (5, 0, 8, 8)],
)
def test_copies_go_on_behind_what_is_remote(
    highest: int | None, log_start: int, first_epoch: int, start: int
) -> None:
    assert copy_from(highest, log_start, first_epoch) == start


@pytest.mark.parametrize(
    ("start", "stable", "bases"),
    [
        (0, 12, [0, 3, 6, 9]),
        (4, 12, [3, 6, 9]),  # the segment that holds the offset goes as a whole
        (6, 9, [6]),
        (6, 8, []),  # its last record is not decided
        (0, 5, [0]),
        (12, 12, []),
    ],
)
def test_finished_segments_below_the_last_stable_offset_are_copied_in_order(
    start: int, stable: int, bases: list[int]
) -> None:
    assert [one.base_offset for one in copy_candidates(LOCAL, start, stable)] == bases


@pytest.mark.parametrize(
    ("size", "newest", "retention", "rolls"),
    [
        (1, NOW - 11, 10, True),
        (1, NOW - 10, 10, False),
        (0, NOW - 11, 10, False),
        (1, 0, -1, False),
    ],
)
def test_an_active_segment_past_retention_is_rolled(
    size: int, newest: int, retention: int, rolls: bool
) -> None:
    assert active_must_roll(size, newest, NOW, retention) is rolls


def test_a_leader_that_was_replaced_only_ends_what_it_has_in_hand() -> None:
    allowed = {
        (step, standing): task_may(step, standing) for step in TaskStep for standing in Standing
    }
    assert [pair for pair, may in allowed.items() if may] == [
        (TaskStep.START_COPY, Standing.LEADS),
        (TaskStep.FINISH_COPY, Standing.LEADS),
        (TaskStep.FINISH_COPY, Standing.REPLICA),
        (TaskStep.DELETE, Standing.LEADS),
        (TaskStep.REMOVE_OWN_COPY, Standing.LEADS),
        (TaskStep.REMOVE_OWN_COPY, Standing.REPLICA),
        (TaskStep.REMOVE_OWN_COPY, Standing.GONE),
    ]


@pytest.mark.parametrize(
    ("one", "goes"),
    [
        (segment(0, 1, "0@0", state=DELETING, leader_epoch=9), True),
        (segment(0, 1, "0@0", leader_epoch=5), False),
        (segment(0, 1, "0@0", state=STARTED, leader_epoch=5, event_ms=NOW), True),
        (segment(0, 1, "0@0", state=STARTED, leader_epoch=6), False),
        (segment(0, 1, "0@0", state=STARTED, leader_epoch=4, event_ms=NOW - 300_000), False),
        (segment(0, 1, "0@0", state=STARTED, leader_epoch=4, event_ms=NOW - 300_001), True),
    ],
)
def test_left_overs_are_begun_deletions_and_copies_that_are_made_no_more(
    one: RemoteLogSegmentMetadata, goes: bool
) -> None:
    assert left_over(one, 5, NOW, INTERVAL) is goes


def planned(
    *segments: RemoteLogSegmentMetadata,
    lineage: str = "0@0",
    log_start: int = 0,
    local_start: int | None = None,
    committed: int = 100,
    local: int = 0,
    ms: int = -1,
    size: int = -1,
    copying: tuple[RemoteLogSegmentMetadata, ...] = (),
    led_from: int = 99,
) -> tuple[int, list[int]]:
    """Where the log begins then, and the starts of the segments that go."""
    plan: Expiry = plan_expiry(
        ExpiryView(
            segments=segments,
            copying=[one.segment_id for one in copying],
            lineage=epochs(lineage),
            leader_epoch=5,
            led_from=led_from,
            log_start_offset=log_start,
            local_log_start_offset=log_start if local_start is None else local_start,
            high_watermark=committed,
            local_only_bytes=local,
            retention_ms=ms,
            retention_bytes=size,
            now_ms=NOW,
            task_interval_ms=INTERVAL,
        )
    )
    return plan.log_start_offset, [one.start_offset for one in plan.victims]


OLD, NEW = NOW - 1000, NOW
A, B, C = (segment(at, at + 2, "0@0", max_ms=OLD) for at in (0, 3, 6))
FRESH = segment(3, 5, "0@0", max_ms=NEW)


def test_without_limits_nothing_expires() -> None:
    assert planned(A, B, C) == (0, [])


def test_what_ends_before_the_log_starts_goes_whatever_its_lineage() -> None:
    foreign = segment(1, 3, "7@1", max_ms=NEW)
    assert planned(A, foreign, B, log_start=4) == (4, [0, 1])
    assert planned(A, foreign, B, log_start=3) == (3, [0])


def test_old_segments_go_from_the_oldest_on_up_to_the_first_that_stays() -> None:
    assert planned(A, B, C, ms=999) == (9, [0, 3, 6])
    assert planned(A, FRESH, C, ms=999) == (3, [0])
    assert planned(A, B, C, ms=1000) == (0, [])


def test_a_part_that_expires_moves_the_log_start_no_further_than_its_end() -> None:
    parted = segment(0, 1, "0@0", max_ms=OLD)
    kept = segment(1, 2, "1@1", max_ms=NEW)
    assert planned(parted, kept, lineage="0@0 1@1", ms=999) == (1, [0])


def test_an_old_segment_of_another_lineage_goes_by_itself() -> None:
    foreign = segment(6, 9, "7@6", max_ms=OLD)
    assert planned(FRESH, foreign, ms=999) == (0, [6])


def test_size_counts_what_is_remote_and_what_is_only_local() -> None:
    assert planned(A, B, C, size=20) == (3, [0])
    assert planned(A, B, C, size=21) == (0, [])
    assert planned(A, B, C, size=21, local=1) == (3, [0])
    assert planned(A, B, C, size=0) == (9, [0, 3, 6])


def test_offsets_that_were_copied_twice_count_once_and_go_together() -> None:
    again = segment(0, 2, "0@0", number=7)
    within = segment(4, 5, "0@0", number=8)
    assert planned(A, again, B, within, C, size=20) == (3, [0, 0])
    assert planned(A, again, B, within, C, size=21) == (0, [])


def test_what_is_not_committed_does_not_expire() -> None:
    assert planned(A, B, C, ms=999, committed=6) == (6, [0, 3])
    assert planned(A, B, C, size=0, committed=5) == (3, [0])


def test_what_an_earlier_leader_expired_is_below_the_log_start_of_the_next() -> None:
    begun = segment(0, 2, "0@0", state=DELETING)
    assert planned(begun, B, C, local_start=8) == (3, [0])
    assert planned(C, local_start=8) == (6, [])
    assert planned(local_start=8) == (8, [])
    assert planned(C, local_start=8, led_from=0) == (0, [])  # a hole that it made itself
    assert planned(C, local_start=8, led_from=3) == (3, [])
    assert planned(B, C, local_start=0) == (0, [])
    assert planned(B, C, local_start=8, lineage="0@1") == (0, [])  # its epochs are not all known


def test_a_copy_in_hand_is_left_alone_and_left_overs_go() -> None:
    mine = segment(6, 8, "0@0", state=STARTED, leader_epoch=5)
    assert planned(A, mine, copying=(mine,)) == (0, [])
    assert planned(A, mine) == (0, [6])


@pytest.mark.parametrize(
    ("topic", "broker", "log", "whole", "effective"),
    [
        (-2, -2, 168, 720, 168),
        (-2, -2, 168, 1, 1),
        (-2, -2, -1, 720, 720),
        (-2, 50, 168, 720, 50),
        (-2, 50, 168, 20, 20),
        (10, 50, 168, 720, 10),
        (-1, 50, 168, -1, -1),
        (-2, -2, 168, -1, 168),
        (-2, -2, -1, -1, -1),
        (0, -2, 168, -1, 0),
    ],
)
def test_local_retention_is_never_more_than_retention(
    topic: int, broker: int, log: int, whole: int, effective: int
) -> None:
    assert effective_local_retention(topic, broker, log, whole) == effective


@pytest.mark.parametrize(
    ("highest", "now", "ms", "size", "upto"),
    [
        (11, 1000, -1, -1, None),
        (11, 1000, 500, -1, 6),  # those of 0 and 300 are older
        (11, 1000, 499, -1, 6),
        (2, 1000, 0, -1, 3),  # only the first is copied
        (1, 1000, 0, -1, None),
        (11, 0, -1, 30, 6),
        (11, 0, -1, 31, 3),
        (11, 0, -1, 1, 12),
        (11, 900, 0, 60, 9),
    ],
)
def test_segments_leave_the_disk_when_they_are_copied_and_too_old_or_too_much(
    highest: int, now: int, ms: int, size: int, upto: int | None
) -> None:
    local_bytes = 40 + 10  # and the active one
    assert local_retention_upto(LOCAL, local_bytes, highest, now, ms, size) == upto


@pytest.mark.parametrize("attempt", range(10))
def test_retries_double_and_stop_at_the_most(attempt: int) -> None:
    doubled = 500 * 2**attempt
    for jitter in (-0.2, 0.0, 0.2):
        expected = min(30_000, doubled * (1 + jitter))
        assert task_backoff_ms(attempt, 500, 30_000, jitter) == expected


def test_a_task_that_failed_for_days_still_waits_no_longer() -> None:
    assert task_backoff_ms(100_000, 500, 30_000, 0.2) == 30_000
