"""The search for a legal order in histories of a hundred thousand operations. It takes minutes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.linearizability import measure_long
from harness.cli.benches.measured import Measured


def measure(folder: Path) -> Iterator[Measured]:
    """Operations a second."""
    yield from measure_long(folder, 100_000)
