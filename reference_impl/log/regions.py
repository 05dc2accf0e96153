"""Regions: which part of a partition's storage holds an offset.

A partition's log is a list of regions in order of their offsets, each with its bounds (``end`` is
exclusive, None where it is still growing) and whether it can be read yet. A classic log has one,
LOCAL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reference_impl.decisions import decision


class RegionKind(StrEnum):
    """Where the records of a region are kept."""

    LOCAL = "local"
    TIERED = "tiered"
    DISKLESS = "diskless"


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A range of offsets that is kept in one way."""

    kind: RegionKind
    start: int
    end: int | None
    ready: bool = True


@decision("route-read", rules=("KFK-046", "KFK-049"))
def route_read(offset: int, regions: Sequence[Region]) -> Region | None:
    """The region that holds the offset and is ready; where two overlap, the later one."""
    for region in reversed(regions):
        if region.start <= offset and (region.end is None or offset < region.end):
            return region if region.ready else None
    return None
