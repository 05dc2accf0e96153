"""A log on a simulated disk, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from log_bench import Bench

from reference_impl.log import LogConfig


@pytest.fixture
def opened() -> Iterator[Callable[..., Bench]]:
    """Makes a bench with an open log of this configuration, named as Kafka names it."""
    made: list[Bench] = []

    def make(**config: int | str) -> Bench:
        texts = {name.replace("_", "."): str(value) for name, value in config.items()}
        made.append(Bench(LogConfig.of(texts)))
        made[-1].open()
        return made[-1]

    yield make
    for bench in made:
        bench.close()
