"""A time axis shared by the panels of a picture, and scales for what they show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from reports.markup import Markup, joined, tag

WIDTH = 960.0
LEFT = 118.0
RIGHT = 24.0
LANE_LETTERS = 19
"""What fits before a lane."""
_STEPS = (1, 2, 5, 10)


def nice_step(span: float, at_most: int) -> float:
    """The least of 1, 2, 5, 10 times a power of ten that cuts a span into so many parts."""
    rough = max(span, 1e-9) / at_most
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * step for step in _STEPS if power * step >= rough * (1 - 1e-9))


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeAxis:
    """Seconds from left to right."""

    start_s: float
    end_s: float

    def x(self, at_s: float) -> float:
        """Where a moment is; what lies outside is put on the edge."""
        span = max(self.end_s - self.start_s, 1e-9)
        share = min(1.0, max(0.0, (at_s - self.start_s) / span))
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def ticks(self) -> Iterator[float]:
        """Round moments to be named."""
        step = nice_step(self.end_s - self.start_s, 8)
        first = math.ceil(self.start_s / step - 1e-9)
        last = math.floor(self.end_s / step + 1e-9)
        yield from (number * step for number in range(first, last + 1))

    def drawn(self, y: float) -> Markup:
        """The axis at the bottom of a picture."""
        marks = [
            joined(
                tag("line", x1=self.x(at), x2=self.x(at), y1=y, y2=y + 4, class_="axis"),
                tag("text", f"{at:,.10g} s", x=self.x(at), y=y + 16, class_="tick middle"),
            )
            for at in self.ticks()
        ]
        return joined(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="axis"), marks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Values from bottom to top, linear or by powers of ten."""

    low: float
    high: float
    bottom: float
    top: float
    by_powers: bool = False
    whole: bool = False
    """Whether there is nothing between two numbers, as with offsets."""

    def y(self, value: float) -> float:
        """Where a value is."""
        low, high, at = self.low, self.high, value
        if self.by_powers:
            low, high, at = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        share = (at - low) / max(high - low, 1e-9)
        return self.bottom - min(1.0, max(0.0, share)) * (self.bottom - self.top)

    def ticks(self) -> list[float]:
        """Round values to be named."""
        if self.by_powers:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            powers = [10.0**power for power in range(first, last + 1)]
            if len(powers) > 1:
                return powers
            steps = (1, 2, 3, 5, 7)
            finer = [step * 10.0**power for power in range(first - 2, last + 2) for step in steps]
            return [value for value in finer if self.low <= value <= self.high]
        step = max(nice_step(self.high - self.low, 4), 1 if self.whole else 0)
        first, last = math.ceil(self.low / step), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]

    def drawn(self, unit: str = "") -> Markup:
        """Its named values with faint lines across the picture."""
        return joined(
            joined(
                tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=self.y(v), y2=self.y(v), class_="grid"),
                tag("text", f"{v:,.10g}{unit}", x=LEFT - 6, y=self.y(v) + 3, class_="tick end"),
            )
            for v in self.ticks()
        )


def short(name: str, letters: int) -> str:
    """As much of a name as there is room for."""
    return name if len(name) <= letters else f"{name[: max(0, letters - 1)]}…"


def panel_title(text: str, y: float) -> Markup:
    """What a panel shows, above it."""
    return tag("text", text, x=8, y=y, class_="panel")
