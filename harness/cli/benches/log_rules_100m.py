"""All rules about logs over a history of a hundred million rows. It takes a while."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.log_rules import ENGINES, measure_case
from harness.cli.benches.measured import Measured


def measure(folder: Path) -> Iterator[Measured]:
    """Rows a second and peak memory."""
    yield from measure_case(folder, 100, 32, ENGINES)
