"""Delta debugging: of many things that together show something, those that are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def minimise(items: Sequence[Item], shows: Callable[[list[Item]], bool]) -> list[Item]:
    """Items none of which can be left out: Zeller's ddmin, in large chunks first, then smaller."""
    kept = list(items)
    if shows([]):
        return []
    chunk = max(1, len(kept) // 2)
    while True:
        start, taken = 0, False
        while start < len(kept):
            without = kept[:start] + kept[start + chunk :]
            if len(without) < len(kept) and shows(without):
                kept, taken = without, True
            else:
                start += chunk
        if chunk == 1 and not taken:
            return kept
        chunk = chunk if taken and chunk == 1 else max(1, chunk // 2)
