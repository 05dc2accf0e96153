"""The ports of time and chance."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """A node's own clocks. Timeouts and sleeps of asyncio run on the same ones."""

    def now_ms(self) -> int:
        """The time of day, in milliseconds since 1970. It may jump, and differ between nodes."""
        ...

    def monotonic_ns(self) -> int:
        """Nanoseconds since some moment; never falls while the node lives."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after that long, by this node's own clock."""
        ...


class Rng(Protocol):
    """Chance. ``random.Random`` is one."""

    def random(self) -> float:
        """From 0 up to but without 1."""
        ...

    def randrange(self, stop: int, /) -> int:
        """From 0 up to but without ``stop``."""
        ...

    def randbytes(self, n: int) -> bytes:
        """That many bytes."""
        ...
