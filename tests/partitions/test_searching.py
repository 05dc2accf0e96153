"""Where a timestamp is looked for, and what comes of several answers."""

from __future__ import annotations

import pytest

from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.searches import TimestampOffset
from reference_impl.partitions.searching import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    Search,
    SearchEnd,
    merge_latest,
    merge_search,
    route_search,
    search_asks_first,
    special_offset,
)
from reference_impl.partitions.views import Bounds, Region, RegionKind
from reference_impl.replication.decisions import Reader

BOUNDS = Bounds(
    log_start_offset=5,
    local_log_start_offset=10,
    high_watermark=40,
    last_stable_offset=38,
    log_end_offset=50,
)
LOCAL = Region(RegionKind.LOCAL, 10)
ENDED = Region(RegionKind.LOCAL, 10, 30)
TIERED = Region(RegionKind.TIERED, 0, 20)
ASSEMBLING = Region(RegionKind.ASSEMBLING, 30, 40)
WAL = Region(RegionKind.WAL, 30)
OVERLAPPING = Region(RegionKind.WAL, 25)
MOVING = Region(RegionKind.WAL, 30, known=False)
AFTER = Region(RegionKind.ASSEMBLING, 40, known=False)


@pytest.mark.parametrize(
    ("timestamp", "last_tiered", "offset"),
    [
        (LATEST, None, 40),
        (EARLIEST, None, 5),
        (EARLIEST_LOCAL, None, 10),
        (LATEST_TIERED, None, -1),
        (LATEST_TIERED, -1, -1),
        (LATEST_TIERED, 24, 24),
        (EARLIEST_PENDING_UPLOAD, None, -1),
        (EARLIEST_PENDING_UPLOAD, -1, 5),
        (EARLIEST_PENDING_UPLOAD, 3, 5),
        (EARLIEST_PENDING_UPLOAD, 19, 20),
        (MAX_TIMESTAMP, 24, -1),
    ],
)
def test_special_timestamps_are_answered_from_the_bounds_of_log_and_tier(
    timestamp: int, last_tiered: int | None, offset: int
) -> None:
    assert special_offset(timestamp, BOUNDS, last_tiered, 40) == offset


@pytest.mark.parametrize(
    ("timestamp", "regions", "searches"),
    [
        (77, (LOCAL,), (Search(LOCAL, 10, 50),)),
        (77, (LOCAL, TIERED), (Search(TIERED, 5, 10), Search(LOCAL, 10, 50))),
        (77, (ENDED, WAL), (Search(ENDED, 10, 30), Search(WAL, 30, 50))),
        (77, (ENDED, ASSEMBLING, WAL), (Search(ENDED, 10, 30), Search(WAL, 30, 50))),
        (77, (ENDED, OVERLAPPING), (Search(ENDED, 10, 30), Search(OVERLAPPING, 30, 50))),
        (77, (Region(RegionKind.TIERED, 0, 5), LOCAL), (Search(LOCAL, 10, 50),)),
        (MAX_TIMESTAMP, (LOCAL, TIERED), (Search(TIERED, 5, 10), Search(LOCAL, 10, 50))),
        (MAX_TIMESTAMP, (ENDED, WAL), (Search(ENDED, 10, 30),)),
        (77, (), ()),
    ],
)
def test_every_region_is_searched_once_in_the_order_of_offsets(
    timestamp: int, regions: tuple[Region, ...], searches: tuple[Search, ...]
) -> None:
    assert route_search(timestamp, BOUNDS, regions) == searches


NOTHING = SearchEnd()
FOUND = SearchEnd(TimestampOffset(timestamp=7, offset=12, leader_epoch=3))
LATER = SearchEnd(TimestampOffset(timestamp=8, offset=31, leader_epoch=3))
FAILED = SearchEnd(error=ErrorCode.kafka_storage_error)


@pytest.mark.parametrize(
    ("ended", "merged"),
    [
        ([], NOTHING),
        ([NOTHING, NOTHING], NOTHING),
        ([FOUND, LATER], FOUND),
        ([NOTHING, LATER], LATER),
        ([FAILED, LATER], FAILED),
        ([FOUND, FAILED], FOUND),
        ([NOTHING, FAILED], FAILED),
    ],
)
def test_an_error_hides_what_lies_behind_it(ended: list[SearchEnd], merged: SearchEnd) -> None:
    assert merge_search(ended) == merged


SAME = SearchEnd(TimestampOffset(timestamp=8, offset=12, leader_epoch=3))


@pytest.mark.parametrize(
    ("ended", "merged"),
    [
        ([], NOTHING),
        ([NOTHING, FOUND], FOUND),
        ([FOUND, LATER], LATER),
        ([LATER, FOUND], LATER),
        ([SAME, LATER], SAME),
        ([FAILED, LATER], FAILED),
        ([LATER, FAILED], FAILED),
    ],
)
def test_the_latest_record_counts_and_of_equal_ones_the_first(
    ended: list[SearchEnd], merged: SearchEnd
) -> None:
    assert merge_latest(ended) == merged


@pytest.mark.parametrize(
    ("timestamp", "reader", "regions", "asked"),
    [
        (77, Reader.CONSUMER, (LOCAL, TIERED), None),
        (77, Reader.CONSUMER, (ENDED, MOVING, AFTER), MOVING),
        (77, Reader.COMMITTED, (ENDED, MOVING), MOVING),
        (77, Reader.FOLLOWER, (ENDED, MOVING), None),
        (EARLIEST, Reader.CONSUMER, (ENDED, MOVING), MOVING),
        (LATEST, Reader.CONSUMER, (ENDED, MOVING), MOVING),
        (LATEST, Reader.FOLLOWER, (ENDED, MOVING), None),
        (MAX_TIMESTAMP, Reader.CONSUMER, (ENDED, MOVING), None),
        (EARLIEST_LOCAL, Reader.CONSUMER, (ENDED, MOVING), None),
        (EARLIEST_PENDING_UPLOAD, Reader.CONSUMER, (ENDED, MOVING), None),
        (EARLIEST_PENDING_UPLOAD - 1, Reader.CONSUMER, (ENDED, MOVING), MOVING),
    ],
)
def test_what_other_regions_decide_waits_for_the_bounds_that_are_not_known(
    timestamp: int, reader: Reader, regions: tuple[Region, ...], asked: Region | None
) -> None:
    assert search_asks_first(timestamp, reader, regions) == asked
