"""Keys and values as the history wrote them, from the text that tables hold."""

from __future__ import annotations

import json


def key_of(topic: str | None) -> object:
    """The key that a topic stands for: a number where it is one, else the text itself."""
    if topic is None:
        return None
    try:
        key = json.loads(topic)
    except ValueError:
        return topic
    return topic if isinstance(key, str) else key


def value_of(text: str | None) -> object:
    """The value that a JSON text stands for."""
    return None if text is None else json.loads(text)


def in_order(values: list[object]) -> list[object]:
    """Numbers by size, then texts, then whatever else there is."""
    return sorted(values, key=_rank)


def _rank(value: object) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return 0, value, ""
    return (1, 0, value) if isinstance(value, str) else (2, 0, json.dumps(value, sort_keys=True))
