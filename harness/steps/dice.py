"""How Hypothesis draws for machines: every choice as likely as any other, by the seed alone.

Left to itself it prefers small numbers, and now and then takes one that it finds in the source of
any module loaded: good for finding edge cases of a number, but here a number stands for a choice
from lists, and the same seed must give the same programs whatever else is loaded.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, PrimitiveProvider

BACKEND = "tidemark-dice"


class Dice(PrimitiveProvider):
    """Draws what machines need: whether, and which."""

    lifetime = "test_case"

    def __init__(self, conjecturedata: Any, /) -> None:
        super().__init__(conjecturedata)
        # No other stream would do: each example would then be the one before.
        self._random: random.Random = conjecturedata._random

    def draw_boolean(self, p: float = 0.5) -> bool:
        """True so often."""
        return self._random.random() < p

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
    ) -> int:
        """One of these numbers."""
        if min_value is None or max_value is None:
            raise NotImplementedError("machines draw from lists, which have ends")
        return self._random.randint(min_value, max_value)

    def draw_float(self, **constraints: Any) -> float:
        """Not one."""
        raise NotImplementedError("machines draw from lists")

    def draw_string(self, *arguments: Any, **constraints: Any) -> str:
        """Not one."""
        raise NotImplementedError("machines draw from lists")

    def draw_bytes(self, *arguments: Any, **constraints: Any) -> bytes:
        """Not any."""
        raise NotImplementedError("machines draw from lists")


AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{Dice.__name__}"
