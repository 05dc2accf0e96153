"""Links that the hook `process` cuts and heals, one direction an order; what it counts is evidence.

Cuts may overlap: a direction is healed when the last of those that are about it has ended. What is
held in it is asked of the hook until it is more than nothing, and then no more.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from harness.levers import Lever, PulledLever

BETWEEN_S = 0.5
Direction = tuple[str, str]


class LinkOrders(Protocol):
    """Who cuts and heals; every call blocks until it is done."""

    def cut(self, source: str, target: str, seconds: float | None = None) -> None:
        """Hold what one node sends another, for good or for so long."""
        ...

    def heal(self, source: str, target: str) -> None:
        """Let everything pass."""
        ...

    def held(self, source: str, target: str) -> int:
        """How much was held since the cut."""
        ...


class HookLinks:
    """The links of one deployment."""

    def __init__(self, orders: LinkOrders) -> None:
        self._orders = orders
        self._cuts: Counter[Direction] = Counter()
        self._lock = asyncio.Lock()

    async def cut(
        self,
        sources: Sequence[str],
        targets: Sequence[str],
        *,
        both: bool,
        seconds: float | None = None,
    ) -> Lever:
        """Cut from each source to each target, and back if `both`; or slow it down."""
        directions = [(one, other) for one in sources for other in targets if one != other]
        directions += [(other, one) for one, other in directions] if both else []
        counted = "deliveries_held" if seconds is None else "deliveries_delayed"
        counts = {counted: 0}
        async with self._lock:
            for one in directions:
                if not self._cuts[one]:
                    await asyncio.to_thread(self._orders.cut, *one, seconds)
                self._cuts[one] += 1

        async def ask() -> None:
            while not counts[counted]:
                await asyncio.sleep(BETWEEN_S)
                for one in directions:
                    counts[counted] += await asyncio.to_thread(self._orders.held, *one)

        asking = asyncio.ensure_future(ask())

        async def release() -> None:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            async with self._lock:
                for one in directions:
                    self._cuts[one] -= 1
                    if not self._cuts[one]:
                        await asyncio.to_thread(self._orders.heal, *one)

        return PulledLever(lambda: counts, release)
