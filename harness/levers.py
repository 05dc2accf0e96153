"""A lever: something that is done to a part of a system, counted where it acts.

A lever knows no fault by name and judges nothing. It says how often it acted, by counts that are
taken at the place where it acts: segments held in a proxy, refusals at a gate, threads that the
kernel reports as stopped. `nemesis` gives levers their names and writes down what they did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

Counts = Mapping[str, int]


class Lever(Protocol):
    """Pulled already; in force until it is released."""

    @property
    def counts(self) -> Counts:
        """What it did so far, by the names that `nemesis` documents."""
        ...

    async def acted(self) -> None:
        """Return once a count is above zero."""
        ...

    async def release(self) -> None:
        """End it. What was killed runs again, what was held goes on; a second time does nothing."""
        ...


def has_acted(counts: Counts) -> bool:
    """Whether any count is above zero."""
    return any(count > 0 for count in counts.values())
