"""The same for three brokers that all have the partition, acks=all: what replication costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.broker import measure_cluster
from harness.cli.benches.measured import Measured
from harness.cli.benches.traffic import Load


def measure(folder: Path, load: Load | None = None) -> Iterator[Measured]:
    """MiB a second, against a single bare broker."""
    yield from measure_cluster(folder, brokers=3, acks="all", load=load or Load())
