"""A good history of logs as lines: what clients of a busy cluster record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

RECORDS_A_SEND = 2
READ_AT_ONCE = 8
TOPICS = 4
_LINES_A_TURN = 2 * READ_AT_ONCE // RECORDS_A_SEND + 2
"""As many sends as one fetch reads, the fetch, and for each the line before and the line after."""
_DAY_MS = 1_763_247_780_000


def log_lines(lines: int, logs: int) -> Iterator[dict[str, Any]]:
    """About so many lines over so many partitions: sends, and fetches of what was sent."""
    turns = max(1, lines // _LINES_A_TURN)
    now = 0
    for turn in range(turns):
        log, lap = turn % logs, turn // logs
        about = {"topic": f"t{log % TOPICS}", "partition": log // TOPICS, "node": 1 + log % 3}
        begins = lap * READ_AT_ONCE
        sent: list[list[Any]] = []
        for number in range(READ_AT_ONCE // RECORDS_A_SEND):
            base = begins + number * RECORDS_A_SEND
            name = f"c{log}-{base}"
            records = [[f"{name}-{at}", _DAY_MS + now // 1000] for at in range(RECORDS_A_SEND)]
            sent += [[base + at, *record, 3] for at, record in enumerate(records)]
            ends: dict[str, Any] = {"error": "NONE", "offset": base, "log_start_offset": 0}
            asks = {"client": f"c{log}", "acks": -1, "send": name, "attempt": 1}
            asks |= {"producer": [7000 + log, 0, base], "records": records}
            yield from _pair(now, 2 * log, "produce", about, asks, ends)
            now += 2_000
        ends = {"error": "NONE", "high_watermark": begins + READ_AT_ONCE, "log_start_offset": 0}
        ends |= {"last_stable_offset": begins + READ_AT_ONCE, "records": sent}
        asks = {"client": f"r{log}", "offset": begins, "isolation": "read_committed"}
        yield from _pair(now, 2 * log + 1, "fetch", about, asks | {"leader_epoch": 3}, ends)
        now += 2_000


def _pair(
    now: int,
    process: int,
    f: str,
    about: dict[str, Any],
    asks: dict[str, Any],
    ends: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    line = {"kind": "op", "time": now, "clock": "host", "process": process}
    yield {**line, "type": "invoke", "f": f, **about, **asks}
    yield {**line, "time": now + 1_000, "type": "ok", "f": f, **about, **ends}
