"""The machine's clocks, and its source of chance."""

from __future__ import annotations

import asyncio
import random
import time


class SystemClock:
    """The clocks of this machine; sleeps are asyncio's."""

    def now_ms(self) -> int:
        """The time of day, in milliseconds since 1970."""
        return time.time_ns() // 1_000_000

    def monotonic_ns(self) -> int:
        """Nanoseconds since some moment; never falls."""
        return time.monotonic_ns()

    async def sleep(self, seconds: float) -> None:
        """Return after that long."""
        await asyncio.sleep(seconds)


class SystemRng(random.SystemRandom):
    """Chance from the operating system, which no seed repeats."""
