"""Where a timestamp is looked for, and what comes of several answers.

    −1 latest   −2 earliest   −3 the record with the largest timestamp   −4 earliest local
    −5 last tiered   −6 earliest that waits for upload

A special timestamp is answered from the bounds of the log and of its remote tier, but for −3. Any
other is looked for in each region that may hold it, each within half-open bounds of its own, on
this broker's disk before elsewhere; the first record by offset counts, and an error in an earlier
region counts before a record of a later one. For −3 every region is searched, and the latest of
their records counts.

The authority over a region whose bounds are not known is asked first. If they cannot be had, that
is an error of this region, behind the records of those before it; where the log begins or ends is
not known then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reference_impl.decisions import decision
from reference_impl.kafka.errors import ErrorCode
from reference_impl.log.searches import TimestampOffset
from reference_impl.partitions.routing import Refresh, Refuse, after_refresh
from reference_impl.partitions.views import Bounds, Region, RegionKind, Standing
from reference_impl.replication.decisions import Reader

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6
NOT_FOUND = -1


class Search(NamedTuple):
    """A region to be searched, within [start, end)."""

    region: Region
    start: int
    end: int
    error: ErrorCode = ErrorCode.none  # it cannot be searched, as its bounds are not to be had


class SearchEnd(NamedTuple):
    """What a search ended in: a record, nothing, or an error."""

    found: TimestampOffset | None = None
    error: ErrorCode = ErrorCode.none


@decision("special-offset", rules=("KFK-060",))
def special_offset(timestamp: int, bounds: Bounds, last_tiered: int | None, upto: int) -> int:
    """The offset that a special timestamp stands for; −1 where there is none.

    ``last_tiered`` is the highest offset in finished remote segments, −1 where there are none yet,
    None where the topic has no remote tier (C-26).
    """
    match timestamp:
        case -1:
            return upto
        case -2:
            return bounds.log_start_offset
        case -4:
            return bounds.local_log_start_offset
        case -5:
            return NOT_FOUND if last_tiered is None else last_tiered
        case -6:
            return (
                NOT_FOUND if last_tiered is None else max(last_tiered + 1, bounds.log_start_offset)
            )
        case _:
            return NOT_FOUND


@decision("route-search", rules=("KFK-060", "KFK-063"))
def route_search(timestamp: int, bounds: Bounds, regions: Sequence[Region]) -> tuple[Search, ...]:
    """Every region from the log start on, in the order of offsets, without looking anywhere twice.

    What is on this broker's disk is looked for there. The largest timestamp is looked for there and
    in the remote tier (G-29).
    """
    searches: list[Search] = []
    at = bounds.log_start_offset
    for region in sorted(regions, key=_by_start):
        if region.kind is RegionKind.ASSEMBLING:
            continue
        if timestamp == MAX_TIMESTAMP and region.kind not in (RegionKind.LOCAL, RegionKind.TIERED):
            continue
        end = bounds.log_end_offset if region.end is None else region.end
        if region.kind is RegionKind.TIERED:
            end = min(end, bounds.local_log_start_offset)
        start = max(at, region.start)
        if start < end or region.end is None:
            searches.append(Search(region, start, end))
            at = end
    return tuple(searches)


@decision("search-asks-first")
def search_asks_first(timestamp: int, reader: Reader, regions: Sequence[Region]) -> Region | None:
    """The region whose bounds have to be known before the answer is.

    What is on the disk, in the remote tier or followed by replicas does not depend on others.
    """
    if reader is Reader.FOLLOWER or MAX_TIMESTAMP >= timestamp >= EARLIEST_PENDING_UPLOAD:
        return None
    return next((one for one in regions if not one.known), None)


def route_listing(
    timestamp: int, reader: Reader, regions: Sequence[Region], standing: Standing
) -> tuple[Search, ...] | Refresh | Refuse:
    """What is searched; nothing for a special timestamp that the bounds answer."""
    error = None
    unknown = search_asks_first(timestamp, reader, regions)
    if unknown is None:
        regions = [one for one in regions if one.known]
    else:
        error = after_refresh(standing.refreshed, standing.role)
        if error is None:
            return Refresh(unknown.kind)
    if timestamp < 0 and timestamp != MAX_TIMESTAMP:
        return () if error is None else Refuse(error)
    searches = route_search(timestamp, standing.bounds, regions)
    if error is None:
        return searches
    return tuple(one if one.region.known else one._replace(error=error) for one in searches)


def _by_start(region: Region) -> int:
    return region.start


@decision("merge-search", rules=("KFK-061", "KFK-062"))
def merge_search(ended: Sequence[SearchEnd]) -> SearchEnd:
    """The first answer in the order of offsets; an error hides what lies behind it."""
    for one in ended:
        if one.found is not None or one.error is not ErrorCode.none:
            return one
    return SearchEnd()


@decision("merge-latest")
def merge_latest(ended: Sequence[SearchEnd]) -> SearchEnd:
    """The record with the largest timestamp, of equal ones the first; an error hides everything."""
    best = SearchEnd()
    for one in ended:
        if one.error is not ErrorCode.none:
            return one
        if one.found is not None and (
            best.found is None or one.found.timestamp > best.found.timestamp
        ):
            best = one
    return best
