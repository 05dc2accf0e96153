"""Histories to measure with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def operation_lines(count: int) -> Iterator[dict[str, Any]]:
    """A register under work: initialise, repeat, read, over many partitions."""
    stored = {"boundary": 100, "epoch": 5, "reset_epoch": -1}
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("create_log", {}),
        ("initialize_diskless_migration", {"boundary": 100, "leader_epoch": 5, "entries": []}),
        ("get_diskless_log_start_offset", {}),
        ("initialize_diskless_migration", {"boundary": 100, "leader_epoch": 5, "entries": []}),
    )
    unset = {"boundary": -1, "epoch": -1, "reset_epoch": -1}
    for number in range(count):
        f, arguments = calls[number % 4]
        common = {
            "kind": "op",
            "clock": "host",
            "process": 0,
            "f": f,
            "topic": f"t{number // 400}",
            "partition": number // 4 % 100,
            "node": 1,
        }
        yield {**common, "time": 20 * number, "type": "invoke", **arguments}
        state = unset if f == "create_log" else stored
        yield {**common, "time": 20 * number + 10, "type": "ok", "error": "NONE", "stored": state}
