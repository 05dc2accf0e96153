"""What a measurement is, and how long something takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One row: a rate of ours, the baseline's rate, what the baseline is."""

    row: str
    unit: str
    rate: float
    baseline: str
    baseline_rate: float

    @property
    def ratio(self) -> float:
        """Ours as a multiple of the baseline."""
        return self.rate / self.baseline_rate


def timed(work: Callable[[], object]) -> float:
    """Seconds that it took."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def cpu_timed(work: Callable[[], object]) -> float:
    """Seconds of processor time that it took in all threads of this process."""
    started = time.process_time()
    work()
    return time.process_time() - started
