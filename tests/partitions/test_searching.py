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
    merge_search,
    route_search,
    special_offset,
)
from reference_impl.partitions.views import Bounds, Region, RegionKind

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
MORE_TIERED = Region(RegionKind.TIERED, 20, 25)
ASSEMBLING = Region(RegionKind.ASSEMBLING, 30, 40)
WAL = Region(RegionKind.WAL, 30)


@pytest.mark.parametrize(
    ("timestamp", "regions", "offset"),
    [
        (LATEST, (LOCAL,), 40),
        (EARLIEST, (LOCAL,), 5),
        (EARLIEST_LOCAL, (LOCAL,), 10),
        (LATEST_TIERED, (LOCAL,), -1),
        (LATEST_TIERED, (LOCAL, MORE_TIERED, TIERED), 24),
        (EARLIEST_PENDING_UPLOAD, (LOCAL,), -1),
        (EARLIEST_PENDING_UPLOAD, (LOCAL, TIERED), 20),
        (MAX_TIMESTAMP, (LOCAL,), -1),
    ],
)
def test_special_timestamps_are_answered_from_bounds_and_regions(
    timestamp: int, regions: tuple[Region, ...], offset: int
) -> None:
    assert special_offset(timestamp, BOUNDS, regions, 40) == offset


@pytest.mark.parametrize(
    ("timestamp", "regions", "searches"),
    [
        (77, (LOCAL,), (Search(LOCAL, 10, 50),)),
        (77, (LOCAL, TIERED), (Search(TIERED, 5, 20), Search(LOCAL, 20, 50))),
        (77, (ENDED, WAL), (Search(ENDED, 10, 30), Search(WAL, 30, 50))),
        (77, (ENDED, ASSEMBLING, WAL), (Search(ENDED, 10, 30), Search(WAL, 30, 50))),
        (77, (Region(RegionKind.TIERED, 0, 5), LOCAL), (Search(LOCAL, 10, 50),)),
        (MAX_TIMESTAMP, (LOCAL, TIERED), (Search(LOCAL, 10, 50),)),
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
