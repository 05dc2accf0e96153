"""How far a long stage is: how many of how many parts, how fast, how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[str], None]


class HowFar(str):
    """What is going on, and how much of it is done."""

    done: int
    whole: int

    def __new__(cls, text: str, done: int, whole: int) -> HowFar:
        """A text, for who only reads."""
        said = super().__new__(cls, text)
        said.done, said.whole = done, whole
        return said


class Pace:
    """Tells `progress` of parts that are done: `3 of 8 ranges laid out, 1.5 a second, 3 s left`."""

    def __init__(
        self, progress: Progress, what: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Of a stage that begins now."""
        self._progress = progress
        self._what = what
        self._clock = clock
        self._began = clock()

    def __call__(self, done: int, count: int) -> None:
        """So many parts are done, of so many."""
        told = f"{done} of {count} {self._what}"
        took = self._clock() - self._began
        if done and took > 0:
            told += f", {done / took:.1f} a second, {took * (count - done) / done:.0f} s left"
        self._progress(HowFar(told, done, count))
