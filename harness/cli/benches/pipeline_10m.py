"""From sealed lines by the ten million to verdicts. It takes minutes, most of them to record."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.measured import Measured
from harness.cli.benches.pipeline import measure_case


def measure(folder: Path) -> Iterator[Measured]:
    """Lines a second, by the clock and by CPU, and peak memory."""
    yield from measure_case(folder, 10)
