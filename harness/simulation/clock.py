"""A node's clocks: they may be wrong about the time of day, and run too fast or too slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

NS = 1_000_000_000
EPOCH_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z: where simulated time begins


class NodeClock:
    """The clocks of one machine: the port, and the lab's hand on it.

    ``shift`` moves the time of day. ``drift`` sets the rate at which both clocks run from now on;
    timeouts and sleeps that begin afterwards last accordingly. Timers that run already keep the
    moment at which they would have fired.
    """

    def __init__(self, true_ns: Callable[[], int]) -> None:
        self.reads = 0
        self._true_ns = true_ns
        self._since_ns = 0
        self._local_ns = 0
        self._offset_ms = 0
        self._rate = 1.0

    def now_ms(self) -> int:
        """The time of day as this node believes it."""
        self.reads += 1
        return EPOCH_MS + self._offset_ms + self.local_ns() // 1_000_000

    def monotonic_ns(self) -> int:
        """Nanoseconds since the simulation began, by this node's own count."""
        self.reads += 1
        return self.local_ns()

    async def sleep(self, seconds: float) -> None:
        """Wait, by this node's own clock."""
        await asyncio.sleep(seconds)

    def shift(self, milliseconds: int) -> None:
        """The time of day jumps, forwards or backwards."""
        self._offset_ms += milliseconds

    def drift(self, rate: float) -> None:
        """From now on both clocks run at this rate; 1.0 is true."""
        if not 0.01 <= rate <= 100:
            raise ValueError(f"a clock cannot run at {rate} times the true rate: 0.01 to 100")
        self._local_ns = self.local_ns()
        self._since_ns = self._true_ns()
        self._rate = rate

    def local_ns(self) -> int:
        """What the monotonic clock shows, without counting as a reading of it."""
        passed = self._true_ns() - self._since_ns
        return self._local_ns + (passed if self._rate == 1.0 else int(passed * self._rate))

    def true_delay_ns(self, local_ns: int) -> int:
        """How long a wait of this node really lasts."""
        return local_ns if self._rate == 1.0 else int(local_ns / self._rate)
