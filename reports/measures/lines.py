"""Single lines of a history, by index, without decoding the others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.history.files import open_regular

Event = Mapping[str, Any]


def lines_at(history: Path, wanted: Iterable[int]) -> dict[int, Event]:
    """The events with these indices; those that stand elsewhere than their index says are left out.

    The event with index n is line n + 2 of a sealed history: the header is the first.
    """
    left = set(wanted)
    found: dict[int, Event] = {}
    if not left:
        return found
    last = max(left) + 1
    with open_regular(history) as file:
        for number, line in enumerate(file):
            if number - 1 in left:
                event = json.loads(line)
                if event.get("index") == number - 1:
                    found[number - 1] = event
            if number >= last:
                break
    return found
