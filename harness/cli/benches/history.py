"""Recording and sealing histories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.measured import Measured, timed
from harness.cli.benches.operations import operation_lines
from harness.history import Run

LINES = 100_000


def measure(folder: Path) -> Iterator[Measured]:
    """Lines a second, written and merged."""
    lines = list(operation_lines(LINES // 2))
    plain = folder / "plain.jsonl"

    def write_plain() -> None:
        with plain.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")

    baseline_write = timed(write_plain)
    run_ = Run.create(folder / "run", run="bench", sut="bench", world="sim", seed=1)
    writers = [run_.shard(f"w{number}", "host") for number in range(4)]

    def record() -> None:
        for number, line in enumerate(lines):
            writers[number % 4].write(line)
        for writer in writers:
            writer.close()

    recorded = timed(record)
    yield Measured(
        row="history recorded",
        unit="lines/s",
        rate=len(lines) / recorded,
        baseline="json.dumps to a buffered file",
        baseline_rate=len(lines) / baseline_write,
    )

    def sort_plain() -> None:
        found = [json.loads(line) for line in plain.read_text(encoding="utf-8").splitlines()]
        found.sort(key=lambda line: line["time"])
        (folder / "sorted.jsonl").write_text("\n".join(json.dumps(x) for x in found), "utf-8")

    yield Measured(
        row="history sealed",
        unit="lines/s",
        rate=len(lines) / timed(run_.seal),
        baseline="load, sort, dump in memory",
        baseline_rate=len(lines) / timed(sort_plain),
    )
