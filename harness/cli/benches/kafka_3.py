"""The same for three brokers that all have the partition, acks=all: three nodes of Apache Kafka."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.cli.benches.kafka import measure_nodes
from harness.cli.benches.measured import Measured
from harness.cli.benches.traffic import Load

LOAD = Load(messages=20_000, rounds=3, warm_up=1)


def measure(folder: Path, load: Load = LOAD) -> Iterator[Measured]:
    """MiB a second."""
    yield from measure_nodes(folder, nodes=3, acks=("all",), load=load)
