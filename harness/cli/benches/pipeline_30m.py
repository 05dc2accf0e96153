"""From thirty million sealed lines to verdicts: 16 GB of disk with the shards, half an hour."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.measured import Measured
from harness.cli.benches.pipeline import measure_case


def measure(folder: Path) -> Iterator[Measured]:
    """Lines a second, by the clock and by CPU, and peak memory."""
    yield from measure_case(folder, 30)
