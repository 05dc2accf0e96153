"""Asking authorities for bounds that are not known: all kinds at the same time, within a deadline.

An authority that has not answered by then is asked no longer; its silence is a transient failure,
which the second routing answers like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

from reference_impl.partitions.logical import LogicalPartition
from reference_impl.partitions.views import Refreshed, RegionKind


class Authority(Protocol):
    """Knows the bounds of regions of one kind, for many partitions at once."""

    async def refresh(self, partitions: Sequence[LogicalPartition]) -> Sequence[Refreshed]:
        """Ask for the bounds of all of them in one call; what came of it, for each.

        It is cancelled when the time of those who wait for it is up.
        """
        ...


async def refresh_all(
    authorities: Mapping[RegionKind, Authority],
    wanted: Mapping[RegionKind, Sequence[LogicalPartition]],
    *,
    timeout_s: float,
) -> list[Sequence[Refreshed]]:
    """What came of asking each authority once, in the order of the kinds."""
    return await asyncio.gather(
        *(
            _asked(authorities.get(kind), partitions, timeout_s)
            for kind, partitions in wanted.items()
        )
    )


async def _asked(
    authority: Authority | None, partitions: Sequence[LogicalPartition], timeout_s: float
) -> Sequence[Refreshed]:
    if authority is None:
        return [Refreshed.HARD] * len(partitions)
    try:
        async with asyncio.timeout(timeout_s):
            return await authority.refresh(partitions)
    except TimeoutError:
        return [Refreshed.TRANSIENT] * len(partitions)
