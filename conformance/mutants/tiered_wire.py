"""Tiered storage with one mistake each, which only recorded sequences of requests show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from reference_impl.decisions import Mutant, original
from reference_impl.partitions.searching import EARLIEST_PENDING_UPLOAD
from reference_impl.partitions.views import Bounds

STAGE = "tier-wire"
SHOWN: Mapping[str, str] = MappingProxyType({})
OTHERWISE = ""


def sound(decision: str) -> Callable[..., Any]:
    """The decision as it should be."""
    return original(decision)


def _the_last_that_is_tiered(
    timestamp: int, bounds: Bounds, last_tiered: int | None, upto: int
) -> int:
    found = int(sound("special-offset")(timestamp, bounds, last_tiered, upto))
    pending = timestamp == EARLIEST_PENDING_UPLOAD and last_tiered is not None
    return max(found - 1, bounds.log_start_offset) if pending else found


MUTANTS = (
    Mutant(
        name="pending-begins-with-what-is-tiered",
        decision="special-offset",
        replace=_the_last_that_is_tiered,
        rules=("TS-210",),
        why="what is to be copied is thought to begin at the last offset that was, not after it",
    ),
)
