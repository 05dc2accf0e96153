"""The port of long computations: what would hold up the event loop.

The work is a function of its arguments alone: it touches no port and nothing that others change.
So few run at once; the others wait, in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class Workers(Protocol):
    """Where long computations are done."""

    async def run(self, work: Callable[[], Result]) -> Result:
        """What the work returns or raises; other tasks have their turns until then."""
        ...


class InPlace:
    """The caller does it, at once: for programs that serve no other clients."""

    async def run(self, work: Callable[[], Result]) -> Result:
        """What the work returns or raises."""
        return work()
